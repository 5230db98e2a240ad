"use strict";
// Pictures of outputs that are not only 0 or 1. report.js has the tools; here, too, every text is a text node.
const kindViews = ({ make, name, percent, figure, chart, text, line }) => {
  const WAYS = { commission: "1 instead of 0", omission: "0 instead of 1", high: "too high", low: "too low", other: "another class" };
  const RARE = 2;
  const isAmount = (kind) => kind === "count" || kind === "number";
  const amount = (number) => Number.isInteger(number) && Math.abs(number) < 1e15 ? String(number) : figure(number);
  const value = (observed) => typeof observed === "string" ? name(observed) : String(observed);
  const range = (low, high) => low === high ? amount(low) : `${amount(low)} to ${amount(high)}`;

  // What was expected, in a cell.
  function expected(kind, forecast) {
    if (!forecast) return "";
    if (isAmount(kind)) return range(forecast[0], forecast[2]);
    const [level, chance] = forecast.reduce((best, each) => each[1] > best[1] ? each : best);
    return make("span", {}, name(level), ` (${percent(chance)})`);
  }

  // Where the axis begins and ends: around the interval and the value, unless the value lies too far off to be on it.
  function axis(low, high, observed) {
    const wide = Math.max(high - low, 1e-3 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
    const [from, to] = [Math.min(low, observed), Math.max(high, observed)];
    if (to - from <= 8 * wide) return [from - 0.08 * (to - from) - 0.2 * wide, to + 0.08 * (to - from) + 0.2 * wide];
    return observed > high ? [low - wide, high + 4 * wide] : [low - 4 * wide, high + wide];
  }
  function strip(label, [low, centre, high], observed) {
    const [width, left, y] = [400, 70, 42];
    const size = Math.max(...[low, centre, high, observed].map(Math.abs)) || 1; // differences of the largest numbers are none
    const [from, to] = axis(low / size, high / size, observed / size);
    const share = (number) => (number / size - from) / (to - from);
    const x = (number) => left + (width - 2 * left) * Math.max(0, Math.min(1, share(number)));
    const off = share(observed) > 1 ? 1 : share(observed) < 0 ? -1 : 0;
    const at = off ? x(observed) + off * 40 : x(observed);
    const mark = off ? `M${at - off * 12} ${y - 8} L${at} ${y} L${at - off * 12} ${y + 8} Z` : `M${at} ${y - 10} L${at + 7} ${y} L${at} ${y + 10} L${at - 7} ${y} Z`;
    const ends = low === high ? [text(x(low), y + 26, amount(low), "middle")]
      : [text(x(low), y + 26, amount(low), "end"), text(x(high), y + 26, amount(high), "start")];
    const said = `${label}: ${range(low, high)} is expected, ${observed} stands there`;
    return make("div", { class: "strip" }, chart(width, 72, said,
      line(left - 40, y, width - left + 40, y, "axis"),
      make("rect", { x: x(low) - 1, width: Math.max(3, x(high) - x(low) + 2), y: y - 9, height: 18, class: "expected" }),
      line(x(centre), y - 9, x(centre), y + 9, "centre"), ...ends,
      make("path", { d: mark, class: "observed" }),
      text(at, y - 18, String(observed), off > 0 ? "end" : off < 0 ? "start" : "middle")));
  }
  function levels(forecast) {
    const rest = 1 - forecast.reduce((sum, [, chance]) => sum + chance, 0);
    const lines = forecast.map(([level, chance, marks]) => [make("span", {}, name(level), marks & RARE ? " or another rare one" : ""), chance, marks % RARE === 1]);
    if (rest > 0.005) lines.push(["all others", rest, false]);
    return make("table", { class: "levels" }, make("tbody", {}, ...lines.map(([label, chance, own]) => make("tr", { class: own ? "own" : null },
      make("td", {}, label), make("td", { class: "number" }, percent(chance)),
      make("td", {}, make("span", { class: own ? "bar against" : "bar", style: { width: `${(7 * chance).toFixed(2)}rem` } }), own ? make("span", { class: "here" }, " observed") : "")))));
  }

  // What was expected of the suspects of a row, and what stands there.
  function pictures(detail, names, kinds) {
    const suspects = detail.outputs.slice(0, detail.suspects).filter((output) => output[7]);
    if (!suspects.length) return [];
    const some = (wanted) => suspects.some(([output]) => isAmount(kinds[output]) === wanted);
    const said = [some(true) ? "The grey bar holds 80% of what is expected, the line in it is the centre, and the mark is the value." : null,
      some(false) ? "Bars are the chances of the values that could stand there." : null];
    return [make("h3", {}, "Observed and expected"), make("p", { class: "small" }, said.filter(Boolean).join(" ")),
      ...suspects.flatMap(([output, observed, , , , , , forecast]) => [
        make("p", { class: "pictured" }, name(names[output]), " is ", value(observed)),
        isAmount(kinds[output]) ? strip(names[output], forecast, observed) : levels(forecast)])];
  }

  // How far to trust what was expected of an output.
  const meanings = {
    binary: "the chance of a 1 that the model gave them, and the share in which it is 1",
    level: "the chance of the value that the model found likeliest, and the share that has this value",
    amount: "the median of the expected values, and the median of the observed ones; the line through it holds the middle 80% of those",
  };
  const meaning = (kind) => meanings[kind === "binary" ? kind : isAmount(kind) ? "amount" : "level"];
  // The begin and the size of four steps from the least to the most number, all round.
  function roundSteps(least, most) {
    const raw = Math.max(most / 4 - least / 4, 1e-6 * Math.max(Math.abs(least), Math.abs(most)), 1e-300);
    const power = 10 ** Math.floor(Math.log10(raw));
    for (const round of [1, 2, 2.5, 5, 10, 20]) {
      const step = round * power, from = Math.floor(least / step) * step;
      if (from + 4 * step >= most) return [from, step];
    }
    return [least, raw];
  }
  const tick = (number) => number !== 0 && (Math.abs(number) >= 1e5 || Math.abs(number) < 1e-3) ? number.toExponential(1) : figure(number);
  function amountsChart(label, square, [centre, observed, rowsIn, low, high]) {
    const all = [...centre, ...low, ...high, ...observed];
    const [from, step] = roundSteps(Math.min(...all), Math.max(...all));
    const share = (number) => (number / step - from / step) / 4;
    return square(label, "expected", "observed", (part) => tick(from + 4 * part * step), (x, y) => [
      line(x(0), y(0), x(1), y(1), "axis"),
      ...centre.map((number, bin) => line(x(share(number)), y(share(low[bin])), x(share(number)), y(share(high[bin])), "spread")),
      ...centre.map((number, bin) => make("circle", { cx: x(share(number)), cy: y(share(observed[bin])), r: 4, class: "point" },
        make("title", {}, `expected ${figure(number)}, observed ${figure(observed[bin])}, ${rowsIn[bin]} rows`)))]);
  }
  return { WAYS, isAmount, amount, value, range, expected, pictures, meaning, amountsChart };
};
