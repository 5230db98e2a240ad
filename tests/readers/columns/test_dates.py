"""Dates and durations: written and read back, and refused where the day may be the month."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amiss.readers.columns.contradiction import Contradiction
from amiss.readers.columns.dates import DateFormat, part_of, spans
from amiss.readers.columns.durations import DurationFormat

WRITTEN = {
    "Y-M-D": "%Y-%m-%d", "Y/M/D": "%Y/%m/%d", "D.M.Y": "%d.%m.%Y", "D/M/Y": "%d/%m/%Y", "M/D/Y": "%m/%d/%Y",
    "D-M-Y": "%d-%m-%Y", "M-D-Y": "%m-%d-%Y", "D Mon Y": "%d %b %Y", "Mon D Y": "%B %d, %Y",
}  # fmt: skip
DATES = st.dates(date(1800, 1, 1), date(2200, 1, 1))
EPOCH = np.datetime64("1970-01-01")


def days(each):
    return float((np.datetime64(each) - EPOCH) / np.timedelta64(1, "D"))


@pytest.mark.parametrize("name", WRITTEN)
@given(st.lists(DATES, min_size=1, max_size=20))
def test_dates_are_read_back_as_numpy_counts_days(name, dates):
    assume(("/" not in name and "-" not in name[1:2]) or name[0] == "Y" or any(each.day > 12 for each in dates))
    texts = [each.strftime(WRITTEN[name]) for each in dates]
    told = DateFormat.told(texts)
    assert told is not None and told.read(texts) == [days(each) for each in dates]


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), min_size=1, max_size=9))
def test_times_are_fractions_of_a_day(times):
    times = [each.replace(microsecond=0) for each in times]
    for pattern in ("%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d %I:%M:%S %p"):
        texts = [each.strftime(pattern) for each in times]
        np.testing.assert_allclose(DateFormat.told(texts).read(texts), [days(each) for each in times], atol=1e-9)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.integers(-720, 720))
def test_a_zone_is_taken_to_utc(moment, minutes):
    zoned = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    [found] = DateFormat().read([zoned.isoformat()])
    assert found == pytest.approx(zoned.timestamp() / 86400, abs=1e-9)


def test_one_day_after_the_twelfth_decides_for_the_whole_column():
    assert DateFormat.told(["3/4/2024", "13/4/2024"]) == DateFormat("D/M/Y")
    assert DateFormat.told(["3/4/2024", "4/13/2024"]) == DateFormat("M/D/Y")
    assert DateFormat.told(["3/3/2024", "4/4/2024"]).read(["3/3/2024"]) == [days("2024-03-03")]
    for texts, short in (
        (["3/4/2024", "5/6/2024"], "day or month first"),
        (["13/4/2024", "4/13/2024"], "day and month first"),
        (["2024-01-01 10:00", "2024-01-01 10:00Z"], "times with and without a zone"),
    ):
        with pytest.raises(Contradiction) as caught:
            DateFormat.told(texts)
        assert caught.value.short == short


@pytest.mark.parametrize(
    "text", ["2024-02-30", "31.4.2024", "2024-13-01", "24:00", "2024", "1.2", "May", "2024-1"]
)
def test_what_is_no_date(text):
    assert DateFormat.told([text]) is None


@given(DATES)
def test_month_and_weekday_are_those_of_the_calendar(day):
    assert part_of(days(day), "month") == day.strftime("%m %b")
    assert part_of(days(day), "weekday")[2:] == day.strftime("%a")


def test_a_month_is_an_input_only_where_years_repeat_it():
    assert [spans([0.0, apart]) for apart in (7.0, 8.0, 366.0, 367.0)] == [
        (), ("weekday",), ("weekday",), ("month", "weekday"),
    ]  # fmt: skip


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=9))
def test_durations_are_seconds_however_they_are_written(seconds):
    parts = [(each // 3600, each // 60 % 60, each % 60) for each in seconds]
    for told, texts in {
        "h:m:s": [f"{h:02d}:{m:02d}:{s:02d}" for h, m, s in parts],
        "units": [f"{h} h {m} min {s} s" for h, m, s in parts],
        "ISO": [f"PT{h}H{m}M{s}S" for h, m, s in parts],
    }.items():
        assert DurationFormat.told(texts) == DurationFormat(told)
        assert DurationFormat(told).read(texts) == seconds
    texts = [str(timedelta(seconds=each)) for each in seconds]  # 1 day, 0:00:05
    assert DurationFormat.told(texts).read(texts) == seconds


def test_two_numbers_are_hours_and_minutes_unless_said():
    assert DurationFormat.told(["1:30", "12:05"]).read(["1:30"]) == [5400]
    assert DurationFormat("m:s").read(["1:30", "1:00:00"]) == [90, 3600]
    with pytest.raises(Contradiction):
        DurationFormat.told(["59:30", "1:02:30"])
    assert DurationFormat.told(["16:9", "4:3"]) is None
