// Draws the charts of a page. What they say stands beside them, as latest values and as a table, so that nothing is
// missing without this script.

const HEIGHT = 220;
const DAY = 86400;
const COLOURS = 6;
const plots = new WeakMap();

const exact = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function lineColour(number) {
  return () => colour(`--line-${(number % COLOURS) + 1}`);
}

// The words of moments, days and months, in the language of the browser.
function words(given) {
  const form = (options) => new Intl.DateTimeFormat(undefined, { timeZone: given.zone, ...options });
  const forms = {
    months: { tick: { month: "short", year: "numeric" }, whole: { month: "long", year: "numeric" } },
    days: { tick: { day: "numeric", month: "short" }, whole: { dateStyle: "medium" } },
    moments: { tick: { hour: "2-digit", minute: "2-digit" }, whole: { dateStyle: "medium", timeStyle: "short" } },
  }[given.along];
  const [tick, whole, day] = [form(forms.tick), form(forms.whole), form({ day: "numeric", month: "short" })];
  const at = (second) => new Date(second * 1000);
  return {
    whole: (second) => whole.format(at(second)),
    // Moments say their day where another one begins.
    ticks: (_, seconds, __, ___, step) => {
      let before = null;
      return seconds.map((second) => {
        if (given.along !== "moments") return tick.format(at(second));
        const today = day.format(at(second));
        const isNew = today !== before;
        before = today;
        return step >= DAY ? today : tick.format(at(second)) + (isNew ? `\n${today}` : "");
      });
    },
  };
}

// The shortest distance between two steps; of a single one, what it stands for.
function stepOf(given) {
  const gaps = given.times.slice(1).map((at, place) => at - given.times[place]);
  return gaps.length ? Math.min(...gaps) : { months: 28 * DAY, days: DAY, moments: 3600 }[given.along];
}

function scalesOf(given, step) {
  const highest = (high) => Math.max(high ?? 0, ...given.thresholds);
  const along = (_, first, last) => {
    const [begin, end] = [given.times[0], given.times[given.times.length - 1]];
    if (begin === end) return [begin - 2 * step, begin + 2 * step];
    return given.bars ? [begin - step / 2, end + step / 2] : [first, last];
  };
  // Counts and amounts begin at zero, so that a bar twice as high is twice as much.
  const upwards = (_, low, high) => {
    const [bottom, top] = [Math.min(low ?? 0, 0), highest(high)];
    return bottom === top ? [0, 1] : [bottom * 1.05, top * 1.05];
  };
  const byPowers = (_, low, high) => (low > 0 ? uPlot.rangeLog(low, highest(high), 10, true) : [0.1, 10]);
  return { x: { range: along }, y: given.log ? { distr: 3, range: byPowers } : { range: upwards } };
}

function axesOf(given, said) {
  const axis = {
    stroke: () => colour("--quiet"),
    grid: { stroke: () => colour("--rule"), width: 1 },
    ticks: { show: false },
  };
  // Bars are named themselves, as many of them as there is room for, and the latest one always.
  const named = (plot) => {
    const each = Math.ceil(given.times.length / Math.max(1, Math.floor(plot.width / 90)));
    return given.times.filter((_, place) => (given.times.length - 1 - place) % each === 0);
  };
  const x = { ...axis, values: said.ticks };
  if (given.bars) Object.assign(x, { splits: named, grid: { show: false } });
  return [x, { ...axis, size: 56, values: (_, all) => all.map((each) => (each === null ? "" : short.format(each))) }];
}

// Bars of one step stand beside each other.
function seriesOf(given, step) {
  const width = (step * 0.8) / given.lines.length;
  return given.lines.map((values, number) => {
    const stroke = lineColour(number);
    if (!given.bars) return { stroke, width: 2, points: { show: values.length < 2 || values.includes(null), size: 5 } };
    const from = step * -0.4 + number * width;
    const disp = {
      x0: { unit: 1, values: () => given.times.map((at) => at + from) },
      size: { unit: 1, values: () => [width * 0.95] },
    };
    return { stroke, fill: stroke, width: 0, points: { show: false }, paths: uPlot.paths.bars({ disp }) };
  });
}

function drawThresholds(given) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour("--bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const value of given.thresholds) {
      const y = plot.valToPos(value, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  };
}

// The legend says the latest values, and under the pointer the values of its step.
function followPointer(figure, given, said) {
  const [values, at] = [[...figure.querySelectorAll("[data-latest]")], figure.querySelector("[data-at]")];
  const [latest, when] = [values.map((each) => each.textContent), at.textContent];
  return (plot) => {
    const place = plot.cursor.idx;
    const known = (number) => given.lines[number][place];
    values.forEach((each, number) => {
      if (place == null) each.textContent = latest[number];
      else each.textContent = known(number) == null ? "–" : exact.format(known(number));
    });
    at.textContent = place == null ? when : said.whole(given.times[place]);
  };
}

function draw(holder) {
  const given = JSON.parse(holder.dataset.chart);
  delete holder.dataset.chart;
  const [said, step] = [words(given), stepOf(given)];
  const drawn = new uPlot(
    {
      width: holder.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { points: { show: !given.bars }, drag: { x: !given.bars, y: false } },
      tzDate: (second) => uPlot.tzDate(new Date(second * 1000), given.zone),
      scales: scalesOf(given, step),
      axes: axesOf(given, said),
      series: [{}, ...seriesOf(given, step)],
      hooks: { draw: [drawThresholds(given)], setCursor: [followPointer(holder.closest("figure"), given, said)] },
    },
    [given.times, ...given.lines],
    holder,
  );
  new ResizeObserver(() => drawn.setSize({ width: holder.clientWidth, height: HEIGHT })).observe(holder);
  plots.set(holder, drawn);
}

function drawAll(root) {
  root.querySelectorAll("[data-chart]").forEach(draw);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  document.querySelectorAll(".plot").forEach((holder) => plots.get(holder)?.redraw(false, true));
});
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt !== document.body) drawAll(event.detail.elt);
});
drawAll(document);
