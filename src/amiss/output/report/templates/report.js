"use strict";
// Every text goes onto the page as a text node, never as HTML: names and cells are hostile until then.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.rows, names = data.output_names, inputs = data.input_names;
  const PAGE = 25;
  const at = (id) => document.getElementById(id);

  function make(tag, properties, ...children) {
    const svg = ["svg", "g", "line", "rect", "circle", "path", "text", "title", "image"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (value === null || value === undefined) continue;
      if (name === "style") Object.assign(element.style, value);
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const toCopy = (text) => make("bdi", { class: text.length <= 20 ? "copy whole" : "copy", title: "a click selects all of it" }, text);
  const name = (text) => make("bdi", { class: text.length <= 20 ? "whole" : null }, text);
  // As amiss explain writes it.
  const percent = (share) => share === 0 || share === 1 ? `${100 * share}%`
    : share < 0.001 ? "<0.1%" : share > 0.9994 ? ">99.9%"
    : `${(100 * share).toFixed(share < 0.0995 || share >= 0.9905 ? 1 : 0)}%`;
  const figure = (number) => number === null ? "" : String(Number(number.toPrecision(4)));
  const whole = (number) => number.toLocaleString("en-US");
  const count = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
  const phone = window.matchMedia("(max-width: 40rem)");
  const replace = (element, ...children) => element.replaceChildren(...children);

  const NO_ROW = "No row matches.";

  // Tables whose headings sort and whose rows can be chosen by mouse and keyboard.
  function sortable(table, columns, sort, changed) {
    const buttons = columns.map((column) => {
      const button = make("button", { type: "button", onclick: () => {
        sort.down = sort.key === column.key ? !sort.down : Boolean(column.down);
        sort.key = column.key;
        mark();
        changed();
      } }, column.title);
      return make("th", { scope: "col", class: column.number ? "number" : null }, button);
    });
    function mark() {
      columns.forEach((column, place) => {
        const mine = column.key === sort.key;
        buttons[place].setAttribute("aria-sort", mine ? (sort.down ? "descending" : "ascending") : "none");
        buttons[place].firstChild.textContent = column.title + (mine ? (sort.down ? "\u00a0▼" : "\u00a0▲") : "");
      });
    }
    replace(table.tHead, make("tr", {}, ...buttons));
    mark();
  }
  function sorted(items, value, down) {
    const sign = down ? -1 : 1;
    return [...items].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return a - b;
      if (x === null) return 1;
      if (y === null) return -1;
      if (typeof x !== typeof y) return sign * (typeof x === "number" ? -1 : 1);
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y) || a - b;
    });
  }
  function choosable(body, panel, choose, turn) {
    const of = (target) => target.closest("tr.choice");
    body.addEventListener("click", (event) => {
      const row = of(event.target);
      if (!row) return;
      row.focus();
      choose(Number(row.dataset.item));
      if (getComputedStyle(panel).position === "static") panel.scrollIntoView({ block: "start" });
    });
    body.addEventListener("keydown", (event) => {
      const row = of(event.target);
      if (!row) return;
      const all = [...body.rows], here = all.indexOf(row);
      const there = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1, Enter: here, " ": here }[event.key];
      if (there === undefined) return;
      event.preventDefault();
      const next = all[there] || (turn && turn(there < 0 ? -1 : 1));
      if (!next) return;
      next.focus();
      choose(Number(next.dataset.item));
      if (event.key === "Enter") panel.focus();
    });
  }
  function markChosen(body, item) {
    const all = [...body.rows];
    const chosen = all.find((row) => Number(row.dataset.item) === item);
    for (const row of all) {
      row.setAttribute("aria-current", String(row === chosen));
      row.tabIndex = row === (chosen || all[0]) ? 0 : -1;
    }
  }

  // Drawing.
  function chart(width, height, label, ...children) {
    return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);
  }
  const text = (x, y, content, anchor) => make("text", { x, y, "text-anchor": anchor || "start" }, content);
  const line = (x1, y1, x2, y2, kind) => make("line", { x1, y1, x2, y2, class: kind });

  // Outputs of several kinds; of a table whose outputs are all 0 or 1 nothing is said of kinds.
  const several = Boolean(data.kinds), outputKinds = data.kinds || names.map(() => "binary");
  const views = kindViews({ make, name, percent, figure, chart, text, line });
  const CODES = { commission: 1, omission: 0 };

  // Scores.
  const { low, high, counts } = data.histogram;
  const edges = Array.from({ length: counts.length + 1 }, (_, bin) => low + (high - low) * bin / counts.length);
  function drawHistogram(cut) {
    const [width, height, left, bottom] = [phone.matches ? 360 : 900, phone.matches ? 220 : 280, 60, 48];
    const most = Math.log10(1 + Math.max(...counts));
    const x = (score) => left + (width - left - 10) * (score - low) / (high - low);
    const y = (number) => height - bottom - (height - bottom - 15) * Math.log10(1 + number) / most;
    const marks = [];
    for (let power = 1; power <= Math.max(...counts); power *= 10) {
      marks.push(line(left, y(power), width - 10, y(power), "grid"), text(left - 6, y(power) + 4, power === 1 ? "1 row" : String(power), "end"));
    }
    const columns = counts.map((number, bin) => number === 0 ? null : make("rect", {
      x: x(edges[bin]), width: Math.max(1, x(edges[bin + 1]) - x(edges[bin]) - 1),
      y: y(number), height: height - bottom - y(number), class: "column",
    }, make("title", {}, `${figure(edges[bin])} to ${figure(edges[bin + 1])}: ${count(number, "row")}`)));
    const ticks = (phone.matches ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) => low + share * (high - low));
    const digits = Math.max(0, Math.min(20, 2 - Math.floor(Math.log10(high - low))));
    replace(at("histogram"), chart(width, height, "Histogram of the scores",
      ...marks, ...columns, line(left, height - bottom, width - 10, height - bottom, "axis"),
      ...ticks.map((score, place) => text(x(score), height - 28, String(Number(score.toFixed(digits))), place === ticks.length - 1 ? "end" : "middle")),
      text((left + width) / 2, height - 8, "score", "middle"),
      line(x(cut), 8, x(cut), height - bottom, "cut"),
      text(Math.min(x(cut) + 6, width - 120), 18, `cut-off ${figure(cut)}`)));
  }
  function above(cut) {
    if (rows.score.length === data.n_rows) return [rows.score.filter((score) => score > cut).length, ""];
    const bins = counts.reduce((sum, number, bin) => sum + (edges[bin] >= cut ? number : 0), 0);
    const listed = rows.score.filter((score) => score > cut).length;
    return listed < rows.score.length ? [listed, ""] : [Math.max(bins, listed), "about "];
  }
  function moveCutoff(cut) {
    drawHistogram(cut);
    const [number, about] = cut === data.threshold ? [data.n_flagged, ""] : above(cut);
    at("above").textContent = `${about}${count(number, "row")} (${percent(number / data.n_rows)}) above ${figure(cut)}` +
      (number > 0 && number <= data.n_rows / 2 && !about ? `; to flag these: --alerts ${number}` : "");
  }
  const toSlider = (score) => Math.round(1000 * (score - low) / (high - low));
  // Listed scores are rounded, perhaps up; at the end of the slider nothing is above.
  const highest = rows.score.reduce((most, score) => Math.max(most, score), high);
  const toScore = (place) => place >= 1000 ? highest : low + (high - low) * place / 1000;
  at("cutoff").addEventListener("input", (event) => moveCutoff(toScore(event.target.value)));
  function resetCutoff() {
    at("cutoff").value = toSlider(data.threshold);
    moveCutoff(data.threshold);
  }
  at("reset-cutoff").addEventListener("click", resetCutoff);

  // The ranked list.
  const kinds = several ? rows.wrong.map((way) => way in CODES ? CODES[way] : way)
    : rows.probability.map((p, place) => p === null || p >= 0.5 ? null : rows.observed[place]);
  const kindText = (kind) => kind === null ? "as expected" : kind === 1 ? "1 instead of 0" : kind === 0 ? "0 instead of 1" : views.WAYS[kind];
  const suspect = (place) => rows.output[place] === null ? "" : names[rows.output[place]];
  const allColumns = [
    { key: "rank", title: "rank", number: true, value: (place) => place },
    { key: "row", title: "row", number: true, value: (place) => rows.row[place] },
    ...(rows.id ? [{ key: "id", title: "id", value: (place) => rows.id[place] }] : []),
    ...rows.shown.map(([title, texts], number) => ({ key: `shown ${number}`, title, value: (place) => texts[place] })),
    { key: "score", title: "score", number: true, down: true, value: (place) => rows.score[place] },
    { key: "output", title: "suspect", value: suspect },
    ...(several ? [{ key: "value", title: "value", value: (place) => suspect(place) === "" ? null : rows.observed[place] }] : []),
    { key: "kind", title: "what looks wrong", value: (place) => suspect(place) === "" ? "" : kindText(kinds[place]) },
    { key: "probability", title: "chance", number: true, value: (place) => rows.probability[place] },
  ];
  const onPhone = ["rank", "output", "value", "score", "probability", "kind", "id"];
  const columns = phone.matches ? onPhone.flatMap((key) => allColumns.filter((column) => column.key === key)) : allColumns;
  const withPictures = data.pictures && !phone.matches;
  const isFlagged = (place) => rows.flagged ? rows.flagged[place] === 1 : place < data.n_flagged;
  const listSort = { key: "rank", down: false };
  let view = [], page = 0, chosenRow = null;

  function fits(place, wanted, output, kind, flagged) {
    if (flagged && !isFlagged(place)) return false;
    if (output !== "" && rows.output[place] !== Number(output)) return false;
    if (kind !== "" && String(kinds[place]) !== kind) return false;
    if (wanted === "") return true;
    return String(rows.row[place]) === wanted || suspect(place).toLowerCase().includes(wanted) ||
      Boolean(rows.id && rows.id[place].toLowerCase().includes(wanted)) ||
      rows.shown.some(([, texts]) => texts[place].toLowerCase().includes(wanted));
  }
  function renewView() {
    const [wanted, output] = [at("find").value.trim().toLowerCase(), at("by-output").value];
    const [kind, flagged] = [at("by-kind").value, at("only-flagged").checked];
    const all = rows.row.map((_, place) => place).filter((place) => fits(place, wanted, output, kind, flagged));
    const column = columns.find((each) => each.key === listSort.key);
    view = sorted(all, column.value, listSort.down);
    page = 0;
    showPage();
  }
  function filterView() {
    renewView();
    if (view.length) chooseRow(view[0]);
  }
  function listedRow(place) {
    const picture = data.pictures && data.pictures[place];
    const cells = columns.map((column) => {
      const value = column.value(place);
      let shown;
      if (column.key === "rank") shown = isFlagged(place) ? make("span", {}, make("span", { class: "flag", title: "flagged" }, "! "), String(place + 1)) : String(place + 1);
      else if (column.key === "probability") shown = value === null ? "" : percent(value);
      else if (column.key === "value") shown = value === null ? "" : views.value(value);
      else shown = column.key === "kind" ? value : typeof value === "string" ? name(value) : figure(value);
      return make("td", { class: column.number ? "number" : column.key === "kind" ? "whole" : "text" }, shown);
    });
    if (withPictures) cells.unshift(make("td", {}, picture ? make("img", { src: picture, alt: "", class: "thumb" }) : ""));
    return make("tr", { class: "choice", "data-item": place }, ...cells);
  }
  function showPage() {
    const pages = Math.max(1, Math.ceil(view.length / PAGE));
    const body = at("list").tBodies[0];
    const shown = view.slice(page * PAGE, (page + 1) * PAGE).map(listedRow);
    replace(body, ...(shown.length ? shown : [make("tr", {}, make("td", { colspan: columns.length + 1 }, NO_ROW))]));
    markChosen(body, chosenRow);
    if (!shown.length) replace(at("detail"));
    else if (!at("detail").firstChild) chooseRow(view[0]);
    const part = rows.row.length < data.n_rows ? ` (the list has the first ${whole(rows.row.length)} of ${whole(data.n_rows)} rows)` : "";
    at("page").textContent = `${count(view.length, "row")}${part}, page ${page + 1} of ${pages}`;
    at("back").disabled = page === 0;
    at("forth").disabled = page >= pages - 1;
  }
  function turnPage(by) {
    if (page + by < 0 || (page + by) * PAGE >= view.length) return null;
    page += by;
    showPage();
    return by > 0 ? at("list").tBodies[0].rows[0] : at("list").tBodies[0].rows[PAGE - 1];
  }
  at("back").addEventListener("click", () => turnPage(-1));
  at("forth").addEventListener("click", () => turnPage(1));
  function step(by) {
    const next = view[view.indexOf(chosenRow) + by];
    if (next === undefined) return;
    page = Math.floor(view.indexOf(next) / PAGE);
    showPage();
    chooseRow(next);
  }

  // One row.
  function chooseRow(place) {
    chosenRow = place;
    markChosen(at("list").tBodies[0], place);
    const here = view.indexOf(place);
    const buttons = [[-1, "Previous row"], [1, "Next row"]].map(([by, label]) => {
      const button = make("button", { type: "button", onclick: () => { step(by); at("detail").querySelectorAll("button")[by < 0 ? 0 : 1].focus(); } }, label);
      button.disabled = here < 0 || view[here + by] === undefined;
      return button;
    });
    replace(at("detail"), make("p", { class: "controls" }, ...buttons), ...rowView(place, true));
    at("detail").scrollTop = 0;
    history.replaceState(null, "", `#row-${rows.row[place]}`);
    drawPair();
  }
  function rowView(place, withOthers) {
    const title = make("h3", {}, `Rank ${place + 1}: row ${rows.row[place]}${rows.id ? " " : ""}`, rows.id ? toCopy(rows.id[place]) : null);
    const beside = rows.shown.map(([title, texts]) => make("p", { class: "beside-it" }, name(title), ": ", toCopy(texts[place])));
    const head = make("div", {}, title, ...beside);
    const detail = data.details[place];
    if (!detail) {
      return [head, make("p", {}, `Only the first ${data.details.length} rows carry details here. For this one run `,
        make("code", {}, "amiss explain"), ` with the ${data.batch ? "model and the file" : "file and options"} of this report, and row ${rows.row[place]}.`)];
    }
    const picture = data.pictures && data.pictures[place];
    return [head, picture ? make("img", { src: picture, alt: `picture of row ${rows.row[place]}`, class: "picture" }) : null,
      ...detail.said.map((sentence) => make("p", { dir: "ltr" }, sentence)),
      ...(several ? views.pictures(detail, names, outputKinds) : []), ...sharesView(place, detail), ...groundsView(detail), ...inputsView(detail), ...(withOthers ? expectedView(detail) : [])]
      .filter((part) => part !== null);
  }
  function bar(share, kind) {
    return make("span", { class: kind ? `bar ${kind}` : "bar", style: { width: `${((phone.matches ? 3 : 6) * share).toFixed(2)}rem` } });
  }
  function table(titles, lines) {
    const head = titles.map(([title, number]) => make("th", { scope: "col", class: number ? "number" : null }, title));
    return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines)));
  }
  const cell = (content, number) => make("td", { class: number ? "number" : null }, content);
  const textCell = (content) => make("td", { class: "text" }, content);
  function sharesView(place, detail) {
    const score = rows.score[place];
    const shown = detail.outputs.slice(0, Math.max(detail.suspects, 1));
    const lines = shown.map(([output, observed, , share, after]) => make("tr", {},
      textCell(name(names[output])), cell(views.value(observed), true),
      make("td", { class: "drawn" }, bar(score > 0 ? share / score : 0), ` ${figure(share)}`),
      cell(after === null ? "" : figure(after), true)));
    return [make("h3", {}, "Main contributions"),
      table([["output"], ["is", true], ["adds to the score"], ["score if changed", true]], lines)];
  }
  function groundsView(detail) {
    return detail.grounds.flatMap((grounds, place) => {
      if (!grounds) return [];
      const [total, average, fromInputs, fromOutputs, terms] = grounds;
      const [output, observed] = detail.outputs[place], isTag = outputKinds[output] === "binary";
      const title = isTag ? [" was expected to be ", String(total > 0 ? 1 : 0)] : [` was ${total > 0 ? "" : "not "}expected to be `, views.value(observed)];
      const [forIt, against, ofIt] = isTag ? ["1", "for 0", "a 1"] : [name(observed), "against it", name(observed)];
      const largest = Math.max(...terms.map((term) => Math.abs(term[3])), 1e-9);
      const told = terms.map(([isOutput, column, value, weight]) => make("tr", {},
        textCell(name(isOutput ? names[column] : inputs[column])), cell(isOutput ? "output" : "input"), cell(toCopy(value), true),
        make("td", { class: "drawn" }, bar(Math.abs(weight) / largest, weight < 0 ? "against" : null), ` ${logOdds(weight)}`)));
      return [make("details", place === 0 ? { open: "" } : {},
        make("summary", {}, make("h3", {}, "Why ", name(names[output]), ...title)),
        make("p", { class: "small" }, "Plus speaks for ", forIt, `, minus ${against}. The average row has ${logOdds(average)}; this row's inputs add ${logOdds(fromInputs)} ` +
          `and its other outputs ${logOdds(fromOutputs)}, which makes ${logOdds(total)} (log-odds of `, ofIt, ")."),
        table([["column"], ["kind"], ["this row", true], [isTag ? "speaks for 1 (+) or 0 (−)" : "speaks for (+) or against (−)"]], told))];
    });
  }
  const logOdds = (number) => (number > 0 ? "+" : "") + number.toFixed(3);
  const signed = (number) => (number > 0 ? "+" : "") + figure(number);
  function inputsView(detail) {
    if (!detail.inputs.length) return [];
    function usual([text, places], place) {
      const track = !places ? null : make("span", { class: "track", "aria-hidden": "true" },
        make("span", { class: "usual", style: { left: `${100 * places[0]}%`, width: `${Math.max(2, 100 * (places[1] - places[0]))}%` } }),
        place === null ? null : make("span", { class: "own", style: { left: `${100 * place}%` } }));
      return make("td", {}, track, track ? make("br") : null, make("bdi", {}, text));
    }
    const near = detail.inputs[0][3] !== null, first = detail.outputs[0];
    const output = first ? names[first[0]] : "", [asked, where, legend] = compared(detail);
    const lines = detail.inputs.map(([column, value, place, beside, where1, where0]) => make("tr", {},
      textCell(name(inputs[column])), cell(toCopy(value), true), usual(where1, place), usual(where0, place), near ? usual(beside, place) : null));
    const nearest = detail.near.length ? make("p", { class: "small" }, "Nearest rows: ", ...detail.near.flatMap((row, i) => [i ? ", " : "", name(row)]), ".") : null;
    return [make("h3", {}, "Its inputs against those of others"),
      make("p", { class: "small" }, "What is usual (grey: the middle 80%, in the range of all rows) where ", name(output), ...asked, ", and among the row's neighbours. The mark is this row.", legend),
      table([["input"], ["this row", true], ...where, ...(near ? [["neighbours"]] : [])], lines), nearest];
  }
  // The two values of the first suspect for which inputs are compared.
  function compared(detail) {
    const first = detail.suspects ? detail.outputs[0] : null;
    const kind = first ? outputKinds[first[0]] : "binary";
    if (kind === "binary") return [[" is 1, where it is 0"], [["where it is 1"], ["where it is 0"]], ""];
    if (views.isAmount(kind)) {
      const [there, centre] = [first[1], first[7] ? first[7][1] : ""].map((number) => number === "" ? "the centre" : views.amount(number));
      return [[` is near ${there}, the value that stands there, and near ${centre}, the one expected`], [[`near ${there}`], [`near ${centre}`]],
        " Near: the tenth of the rows with the nearest values."];
    }
    const [there, instead] = [first[1], detail.instead].map(name), titles = [first[1], detail.instead].map((level) => make("span", {}, "where it is ", name(level)));
    return [[" is ", there, ", where it is ", instead], titles.map((title) => [title]), ""];
  }
  function kindsView(detail) {
    const lines = detail.outputs.map(([output, observed, chance, , , alike, known, forecast]) => make("tr", {},
      textCell(name(names[output])), cell(views.value(observed), true), cell(views.expected(outputKinds[output], forecast), true),
      cell(percent(chance), true), cell(known === null ? "" : `${alike} of ${known}`, true)));
    return [make("h3", {}, "All its outputs"),
      make("p", { class: "small" }, "Expected: the likeliest value, or where 80% of the values lie. Chance: that of the value that stands there; of a grade, a count or a number, of one as far off."),
      table([["output"], ["is", true], ["expected", true], ["chance", true], ["neighbours alike", true]], lines), moreOutputs(detail)];
  }
  const moreOutputs = (detail) => detail.more ? make("p", { class: "small" }, `${count(detail.more, "more output")} with smaller shares.`) : null;
  function expectedView(detail) {
    if (several) return kindsView(detail);
    const lines = detail.outputs.map(([output, observed, expected, , , alike, known]) => make("tr", {},
      textCell(name(names[output])), cell(String(observed), true),
      make("td", { class: "drawn" }, make("span", { class: "track", "aria-hidden": "true" },
        make("span", { class: "usual", style: { left: "0", width: `${100 * expected}%` } }),
        make("span", { class: "own", style: { left: `${100 * observed}%` } })), ` ${percent(expected)}`),
      cell(known === null ? "" : `${alike} of ${known}`, true)));
    return [make("h3", {}, "Its outputs, observed and expected"),
      make("p", { class: "small" }, "Grey: the chance of a 1. The mark is what stands there, 0 at the left and 1 at the right."),
      table([["output"], ["is", true], ["chance of a 1"], ["neighbours alike", true]], lines), moreOutputs(detail)];
  }

  // Outputs.
  const quality = data.outputs;
  const wrong = several ? quality.wrong : { commission: quality.commissions, omission: quality.omissions };
  const suspectIn = (i) => Object.values(wrong).reduce((sum, ofOutputs) => sum + ofOutputs[i], 0);
  const allOutputColumns = [
    { key: "name", title: "output", value: (i) => names[i] },
    { key: "suspect", title: "suspect in", number: true, down: true, value: suspectIn },
    { key: "kindOf", title: "kind", value: (i) => outputKinds[i] },
    { key: "commissions", title: "1 instead of 0", number: true, down: true, value: (i) => quality.commissions[i] },
    { key: "omissions", title: "0 instead of 1", number: true, down: true, value: (i) => quality.omissions[i] },
    { key: "ones", title: "ones", number: true, value: (i) => quality.ones[i] },
    { key: "error", title: "error", number: true, value: (i) => quality.error[i] },
    { key: "skill", title: "skill", number: true, value: (i) => quality.skill[i] },
    { key: "auc", title: "auc", number: true, value: (i) => quality.auc[i] },
    { key: "weight", title: "weight", number: true, value: (i) => quality.weight[i] },
  ];
  const leftOut = !several ? ["kindOf"] : outputKinds.includes("binary") ? ["commissions", "omissions"] : ["commissions", "omissions", "ones", "auc"];
  const outputColumns = allOutputColumns.filter((each) => !leftOut.includes(each.key));
  const outputSort = { key: "suspect", down: true };
  let chosenOutput = null;
  function showOutputs() {
    const column = outputColumns.find((each) => each.key === outputSort.key);
    const body = at("output-list").tBodies[0];
    replace(body, ...sorted(names.map((_, i) => i), column.value, outputSort.down).map((i) => make("tr", { class: "choice", "data-item": i },
      ...outputColumns.map((each) => {
        const value = each.value(i);
        if (each.key === "name") return textCell(quality.excluded[i] ? make("span", {}, name(value), " (left out)") : name(value));
        if (each.key === "kindOf") return cell(value);
        return cell(each.key === "ones" && value !== null ? percent(value) : figure(value), true);
      }))));
    markChosen(body, chosenOutput);
  }
  function chooseOutput(i) {
    chosenOutput = i;
    markChosen(at("output-list").tBodies[0], i);
    const ways = several && outputKinds[i] !== "class" ? Object.keys(wrong).filter((way) => wrong[way][i]).map((way) => `${wrong[way][i]} ${views.WAYS[way]}`) : [];
    const filter = make("button", { type: "button", onclick: () => {
      at("by-output").value = String(i);
      at("find").value = at("by-kind").value = "";
      at("only-flagged").checked = true;
      filterView();
      at("rows").scrollIntoView();
    } }, "Show its rows");
    replace(at("output-detail"), make("h3", {}, name(names[i])),
      make("p", {}, `Main suspect in ${count(suspectIn(i), "flagged row")}${ways.length ? ` (${ways.join(", ")})` : ""}. `, filter),
      make("p", { class: "small" }, `Can ${views.isAmount(outputKinds[i]) ? "what was expected" : "its percentages"} be trusted? Each point is a tenth of the rows: ${views.meaning(outputKinds[i])}. Near the diagonal: yes.`),
      calibrationChart(i), calibrationTable(i));
  }
  function square(label, across, up, tick, ...children) {
    const marks = [0, 0.25, 0.5, 0.75, 1];
    const [size, left, bottom] = [420, 18 + 8 * Math.max(4, ...marks.map((share) => tick(share).length)), 45];
    const x = (share) => left + (size - left - 15) * share, y = (share) => size - bottom - (size - bottom - 15) * share;
    const grid = marks.flatMap((share) => [line(x(share), y(0), x(share), y(1), "grid"), line(x(0), y(share), x(1), y(share), "grid"),
      text(x(share), size - bottom + 16, tick(share), "middle"), text(left - 6, y(share) + 4, tick(share), "end")]);
    const upward = text(0, 0, up, "middle");
    upward.setAttribute("transform", `translate(13 ${y(0.5)}) rotate(-90)`);
    return chart(size, size, label, ...grid, text(x(0.5), size - 8, across, "middle"), upward, ...children.flatMap((child) => child(x, y)));
  }
  function calibrationChart(i) {
    const [expected, observed, rowsIn] = quality.calibration[i], label = `Calibration of ${names[i]}`;
    if (views.isAmount(outputKinds[i])) return make("div", { class: "chart" }, views.amountsChart(label, square, quality.calibration[i]));
    const [across, up] = outputKinds[i] === "binary" ? ["expected share of ones", "observed share of ones"] : ["chance of the likeliest value", "share that has it"];
    return make("div", { class: "chart" }, square(label, across, up, String,
      (x, y) => [line(x(0), y(0), x(1), y(1), "axis"), make("path", { class: "curve", d: expected.map((p, place) => `${place ? "L" : "M"}${x(p)} ${y(observed[place])}`).join(" ") }),
        ...expected.map((p, place) => make("circle", { cx: x(p), cy: y(observed[place]), r: 4, class: "point" },
          make("title", {}, `expected ${percent(p)}, observed ${percent(observed[place])}, ${count(rowsIn[place], "row")}`)))]));
  }
  function calibrationTable(i) {
    const [expected, observed, rowsIn, low, high, inside] = quality.calibration[i];
    if (views.isAmount(outputKinds[i])) {
      const told = expected.map((number, bin) => make("tr", {}, ...[figure(number), figure(observed[bin]), views.range(low[bin], high[bin]), percent(inside[bin]), String(rowsIn[bin])].map((each) => cell(each, true))));
      return make("details", {}, make("summary", {}, "The same as a table"), table([["expected", true], ["observed", true], ["middle 80%", true], ["in the interval", true], ["rows", true]], told));
    }
    const lines = expected.map((p, place) => make("tr", {}, cell(percent(p), true), cell(percent(observed[place]), true), cell(String(rowsIn[place]), true)));
    return make("details", {}, make("summary", {}, "The same as a table"), table([["expected", true], ["observed", true], ["rows", true]], lines));
  }

  // Dependence.
  function drawnMap(coef, largest, labels, pointed) {
    const size = coef.length, labelled = size <= 50, margin = labelled ? 150 : 0;
    const canvas = make("canvas", { width: size, height: size });
    const drawing = canvas.getContext("2d"), image = drawing.createImageData(size, size);
    coef.flat().forEach((value, place) => {
      const share = Math.sqrt(Math.abs(value) / largest);
      const colour = value >= 0 ? [0, 114, 178] : [213, 94, 0];
      colour.forEach((full, channel) => { image.data[4 * place + channel] = full; });
      image.data[4 * place + 3] = Math.round(255 * share);
    });
    drawing.putImageData(image, 0, 0);
    const side = Math.min(600, Math.max(200, 30 * size)), step = side / size;
    const picture = make("image", { href: canvas.toDataURL(), x: margin, y: margin, width: side, height: side });
    picture.addEventListener("mousemove", (event) => {
      const box = picture.getBoundingClientRect();
      const clamp = (share) => Math.min(size - 1, Math.max(0, Math.floor(share * size)));
      pointed(clamp((event.clientY - box.top) / box.height), clamp((event.clientX - box.left) / box.width));
    });
    const short = (label) => label.length > 22 ? `${label.slice(0, 21)}…` : label;
    const texts = !labelled ? [] : labels.flatMap((label, i) => {
      const above = text(0, 0, short(label));
      above.setAttribute("transform", `translate(${margin + (i + 0.5) * step + 4} ${margin - 6}) rotate(-60)`);
      return [text(margin - 6, margin + (i + 0.5) * step + 4, short(label), "end"), above];
    });
    const width = margin + side + (labelled ? 80 : 0);
    const map = chart(width, margin + side, "Map of the coefficients between outputs; the strongest stand in the table below", picture, ...texts);
    map.style.maxWidth = `${width}px`;
    return map;
  }
  function drawMap() {
    const map = data.dependence;
    if (!map) {
      replace(at("map"), make("p", {}, names.length < 2 ? "There is only one output." : several ? "Left out: it is drawn for tables whose outputs are all 0 or 1." : "Left out: the models of this fit do not see other outputs, or have no coefficients."));
      return;
    }
    const size = map.outputs.length, largest = Math.max(...map.coef.flat().map(Math.abs), 1e-9);
    const where = make("p", { class: "small", role: "status" }, " ");
    const drawn = drawnMap(map.coef, largest, map.outputs.map((i) => names[i]), (from, to) => replace(where,
      name(names[map.outputs[from]]), " = 1 adds ", figure(map.coef[from][to]), " to the log-odds of ", name(names[map.outputs[to]])));
    const pairs = [];
    map.coef.forEach((across, from) => across.forEach((coef, to) => { if (coef !== 0) pairs.push([from, to, coef]); }));
    pairs.sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
    const lines = pairs.slice(0, 25).map(([from, to, coef]) => make("tr", {}, cell(name(names[map.outputs[from]])), cell(name(names[map.outputs[to]])),
      make("td", { class: "drawn" }, bar(Math.abs(coef) / largest, coef < 0 ? "against" : null), ` ${signed(coef)}`)));
    const part = size < map.all ? ` Of ${map.all} outputs the ${size} that depend most on one another are shown.` : "";
    replace(at("map"), make("p", {}, "What an output that is 1 (a line of the map) adds to the log-odds of another (a column), the inputs being equal. ",
      make("span", { class: "swatch", style: { background: "#0072b2" } }), " speaks for it, ",
      make("span", { class: "swatch", style: { background: "#d55e00" } }), ` against it.${part}`),
      drawn, where, make("h3", {}, "The strongest"), make("div", { id: "strongest" }, table([["output"], ["speaks for or against"], ["adds"]], lines)));
  }

  // Two outputs.
  const sample = data.sample, codes = Uint8Array.from(atob(sample.rho), (letter) => letter.charCodeAt(0));
  function drawPair() {
    const [a, b] = [Number(at("across").value), Number(at("up").value)];
    const short = (i) => names[i].length > 40 ? `${names[i].slice(0, 39)}…` : names[i];
    const rho = (place, i) => { const code = codes[place * names.length + i]; return code === 255 ? null : code / 100; };
    const places = sample.rank.map((_, place) => place).filter((place) => rho(place, a) !== null && rho(place, b) !== null);
    // Hundredths lie on one another: a little scatter, the same every time.
    const scatter = (place, salt) => (((place * 7919 + salt * 104729) % 1000) / 1000 - 0.5) * 0.012;
    replace(at("pair"), square("Probabilities of the observed values of two outputs", `chance of the observed ${short(a)}`, `chance of the observed ${short(b)}`, String,
      (x, y) => [...places].reverse().map((place) => {
        const rank = sample.rank[place], flagged = isFlagged(rank);
        const kind = rank === chosenRow ? "ring mine" : flagged ? "ring" : "dot";
        return make("circle", { cx: x(rho(place, a) + scatter(place, 1)), cy: y(rho(place, b) + scatter(place, 2)), r: flagged || rank === chosenRow ? 5 : 2.5, class: kind },
          make("title", {}, `row ${sample.row[place]}, rank ${rank + 1}`));
      })),
    make("p", { class: "small" }, "Rings are flagged rows, dots the others; the thick ring is the chosen row."));
  }

  // Begin.
  for (const element of document.querySelectorAll(".interactive")) element.hidden = false;
  names.forEach((each, i) => {
    const label = each.length > 60 ? `${each.slice(0, 59)}…` : each;
    for (const id of ["by-output", "across", "up"]) at(id).append(make("option", { value: i }, label));
  });
  if (several) {
    const ways = Object.keys(views.WAYS).filter((way) => rows.wrong.includes(way));
    at("by-kind").replaceChildren(at("by-kind").options[0], ...ways.map((way) => make("option", { value: way in CODES ? CODES[way] : way }, views.WAYS[way])));
  }
  sortable(at("list"), columns, listSort, renewView);
  if (withPictures) at("list").tHead.rows[0].prepend(make("th", { scope: "col" }, "picture"));
  choosable(at("list").tBodies[0], at("detail"), chooseRow, turnPage);
  for (const id of ["find", "by-output", "by-kind", "only-flagged"]) at(id).addEventListener("input", filterView);
  sortable(at("output-list"), outputColumns, outputSort, showOutputs);
  choosable(at("output-list").tBodies[0], at("output-detail"), chooseOutput);
  at("up").value = String(Math.min(1, names.length - 1));
  for (const id of ["across", "up"]) at(id).addEventListener("input", drawPair);
  // On paper every flagged row has its explanation.
  window.addEventListener("beforeprint", () => {
    const flagged = data.details.map((_, place) => place).filter(isFlagged);
    replace(at("print"), ...(flagged.length ? flagged : [0]).map((place) => make("div", { class: "of-print" }, ...rowView(place, false))));
  });
  window.addEventListener("afterprint", () => replace(at("print")));

  const asked = rows.row.indexOf(Number(location.hash.replace("#row-", "")));
  resetCutoff();
  renewView();
  showOutputs();
  drawMap();
  chooseRow(Math.max(asked, 0));
  chooseOutput(sorted(names.map((_, i) => i), outputColumns[1].value, true)[0]);
})();
