// Draws the charts of report.html with Chart.js. Every function takes plain rows and does not depend on the report. A
// chart's text alternative lists its values, for readers who cannot see the chart or point at its bars.
"use strict";

const charts = (() => {
  const available = typeof Chart !== "undefined";
  const redraws = [];  // one function per chart, which draws it in the current colours and width
  const mostTold = 12;  // rows or lines of a chart that its text alternative lists
  let onPaper = false;

  function axis(title, options) {
    return {
      beginAtZero: true,
      title: { display: Boolean(title), text: title, color: color("text") },
      grid: { color: color("line"), borderColor: color("line") },
      ...options,
      ticks: { color: color("text"), ...(options || {}).ticks },
    };
  }

  // Returns the height on paper: reduced, to save paper, and at most a page, so that no chart is split. Low charts keep
  // their height.
  const paperHeight = (height) => height < 200 ? height : Math.min(0.8 * height, 820);

  // Adds a figure with its title, and a chart with its text alternative, to `parent`. configure(width) returns the
  // parts of the chart in the current colours for this width in pixels, and its `height`, which is less on paper.
  function add(parent, title, told, configure) {
    const figure = parent.appendChild(document.createElement("figure"));
    figure.appendChild(document.createElement("figcaption")).textContent = title;
    const box = figure.appendChild(document.createElement("div"));
    box.className = "canvas";
    const canvas = box.appendChild(document.createElement("canvas"));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}. ${told.slice(0, mostTold).join("; ")}` +
      (told.length > mostTold ? `; and ${told.length - mostTold} more, in the table` : ""));
    let chart = null;
    const draw = () => {
      if (chart) chart.destroy();
      // A folded element has no width yet; it will get about that of the page.
      const config = configure(box.clientWidth || document.body.clientWidth - 32);
      box.style.height = (onPaper ? paperHeight(config.height) : config.height) + "px";
      chart = new Chart(canvas, complete(config));
    };
    draw();
    redraws.push(draw);
  }

  function complete(config) {
    return {
      type: config.type, data: config.data, plugins: [marks],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: config.indexAxis || "x",
        interaction: config.interaction || {}, scales: config.scales, layout: { padding: { right: config.paddingRight || 0 } },
        plugins: {
          legend: {
            display: Boolean(config.legend), position: "top", align: "start",
            labels: { color: color("text"), boxWidth: 14, ...config.legendLabels },
          },
          tooltip: { filter: (item) => item.raw !== null, callbacks: config.tooltip || {} },
        },
      },
    };
  }

  // Returns the labels of horizontal bars, which take at most 36 % of the width, and the height of the chart.
  function rowsOf(names, width, perBar, around) {
    const labels = names.map((name) => linesOf(name, Math.min(0.36 * width, 240)));
    return { labels, height: around + labels.length * Math.max(perBar, ...labels.map((lines) => 16 * lines.length + 6)) };
  }
  const categories = () => axis("", { ticks: { autoSkip: false } });

  // Returns the largest number that a row draws, so that the axis includes it.
  const reach = (row) => Math.max(row.value, row.before || 0, ...(row.interval || []), ...(row.repeats || []));
  const reachOf = (rows) => 1.02 * Math.max(...rows.map(reach));
  const toldInterval = (interval) => interval ? ` (${interval.map(rate).join(" to ")})` : "";

  // Draws one bar per row, in the colour of its group, which the legend names if there are several. rows: {name, value,
  // interval, repeats, group}.
  function bars(parent, title, unit, rows) {
    const groups = [...new Set(rows.map((row) => row.group))];
    const notes = rows.map((row) => ({ at: reach(row), text: rate(row.value) }));
    const told = rows.map((row) => `${row.name}: ${rate(row.value)} ${unit}${toldInterval(row.interval)}`);
    const of = (group, get) => rows.map((row, index) => row.group === group ? get(row, index) : null);
    add(parent, title, told, (width) => {
      const { labels, height } = rowsOf(rows.map((row) => row.name), width, 30, groups.length > 1 ? 90 : 60);
      return {
        height, type: "bar", indexAxis: "y", legend: groups.length > 1, paddingRight: notesWidth(notes) + 12,
        data: {
          labels,
          datasets: groups.map((group, index) => ({
            label: group || unit, data: of(group, (row) => row.value), whiskers: of(group, (row) => row.interval),
            dots: of(group, (row) => row.repeats), notes: of(group, (row, at) => notes[at]),
            backgroundColor: series(index), maxBarThickness: 22, grouped: false,
          })),
        },
        scales: { x: axis(unit, { suggestedMax: reachOf(rows) }), y: categories() },
      };
    });
  }

  // Draws one bar per row: the part kept of the row above, and the gain or loss. rows: {name, value, before (value of
  // the row above; none in the first row), interval, text, briefly (the text where space is short), clear (whether the
  // change exceeds the noise)}.
  function steps(parent, title, unit, rows) {
    const piece = (applies, size) => rows.map((row) => row.before !== undefined && applies(row) ? size(row) : null);
    const change = (row) => Math.abs(row.value - row.before);
    const hollow = (name) => ({ backgroundColor: "transparent", borderColor: color(name), borderWidth: 1.5, borderSkipped: false });
    const bar = { maxBarThickness: 22 };
    const told = rows.map((row) => `${row.name}: ${rate(row.value)} ${unit}${toldInterval(row.interval)}` +
      (row.text ? `, ${row.text} of the step before` : ""));
    add(parent, title, told, (width) => {
      const { labels, height } = rowsOf(rows.map((row) => row.name), width, 32, 90);
      const notes = rows.map((row) => ({ text: width < 560 ? row.briefly : row.text, at: reach(row) }));
      return {
        height, type: "bar", indexAxis: "y", legend: true, interaction: { mode: "index", axis: "y" },
        legendLabels: { filter: (item, data) => data.datasets[item.datasetIndex].data.some((value) => value !== null) },
        paddingRight: notesWidth(notes) + 12,
        data: {
          labels,
          datasets: [
            { ...bar, label: "as the step before", data: rows.map((row) => Math.min(row.value, row.before ?? row.value)),
              backgroundColor: color("other"), whiskers: rows.map((row) => row.interval), notes },
            { ...bar, label: "gained", data: piece((row) => row.clear && row.value >= row.before, change), backgroundColor: color("accent") },
            { ...bar, label: "lost", data: piece((row) => row.clear && row.value < row.before, change), ...hollow("wait") },
            { ...bar, label: "changed within the noise", data: piece((row) => !row.clear, change), ...hollow("muted") },
          ],
        },
        scales: { x: axis(unit, { stacked: true, suggestedMax: reachOf(rows) }), y: { ...categories(), stacked: true } },
        tooltip: { label: (item) => `${item.dataset.label}: ${item.raw.toFixed(1)} ${unit}` },
      };
    });
  }

  // Draws stacked bars. rows: {name, shares}, with one share for each of `parts`: {name, color}. Shares sum to 1.
  function stack(parent, title, parts, rows) {
    const told = rows.map((row) => `${row.name}: ` + parts.map((part, index) => [part.name, 100 * row.shares[index]])
      .filter(([, share]) => share >= 0.5).map(([name, share]) => `${name} ${share.toFixed(0)} %`).join(", "));
    add(parent, title, told, (width) => {
      const { labels, height } = rowsOf(rows.map((row) => row.name), width, 26, width < 560 ? 130 : 90);
      return {
        height, type: "bar", indexAxis: "y", legend: true, interaction: { mode: "index", axis: "y" },
        data: {
          labels,
          datasets: parts.map((part, index) => ({
            label: part.name, data: rows.map((row) => 100 * row.shares[index]),
            backgroundColor: color(part.color), borderColor: color("ground"), borderWidth: { right: 1 }, maxBarThickness: 22,
          })),
        },
        scales: { x: axis("% of the step time", { stacked: true, min: 0, max: 100 }), y: { ...categories(), stacked: true } },
        tooltip: { label: (item) => `${item.dataset.label}: ${Math.abs(item.raw).toFixed(1)} %` },
      };
    });
  }

  const shapes = ["circle", "rect", "triangle", "rectRot", "star", "cross"];

  // Returns those of ascending values that are at least `gap` apart, the last one always.
  function spaced(values, gap) {
    const kept = [];
    for (const value of [...values].reverse()) {
      if (kept.length === 0 || kept[0] - value >= gap) kept.unshift(value);
    }
    return kept;
  }

  // Draws rates over ranks, from the fewest measured ranks to the most. arms: {name, hue (index of a colour), points:
  // [{ranks, value, interval}]}, with ascending ranks. Each arm also has a dashed line: the rate of its smallest world,
  // scaled with the ranks. Arms of one hue have different shapes.
  function scaling(parent, title, unit, arms) {
    const ranks = [...new Set(arms.flatMap((arm) => arm.points.map((point) => point.ranks)))].sort((a, b) => a - b);
    const [least, most] = [ranks[0], ranks[ranks.length - 1]];
    const room = 0.06 * (most - least);
    const line = (arm) => ({ borderColor: series(arm.hue), backgroundColor: series(arm.hue), clip: 8 });
    const measured = (arm, index) => ({
      ...line(arm), label: arm.name, borderWidth: 2, pointStyle: shapes[index % shapes.length], pointRadius: 5,
      whiskers: arm.points.map((point) => point.interval),
      data: arm.points.map((point) => ({ x: point.ranks, y: point.value })),
    });
    const ideal = (arm) => ({
      ...line(arm), label: "ideal", borderDash: [6, 5], borderWidth: 1.5, pointRadius: 0,
      data: [arm.points[0].ranks, most].map((x) => ({ x, y: x * arm.points[0].value / arm.points[0].ranks })),
    });
    const told = arms.map((arm) => `${arm.name}: ` + arm.points.map((point) =>
      `${rate(point.value)} ${unit}${toldInterval(point.interval)} on ${point.ranks} ranks`).join(", "));
    add(parent, title, told, (width) => ({
      height: 380, type: "line", legend: true,
      legendLabels: { usePointStyle: true, boxWidth: 8, boxHeight: 7, filter: (item) => item.text !== "ideal" },
      data: { datasets: [...arms.map(measured), ...arms.map(ideal)] },
      scales: {
        x: axis("ranks", {
          type: "linear", beginAtZero: false, min: least - room, max: most + room,
          afterBuildTicks: (scale) => { scale.ticks = spaced(ranks, 30 * (most - least) / width).map((value) => ({ value })); },
        }),
        y: axis(unit, { suggestedMax: reachOf(arms.flatMap((arm) => arm.points)) }),
      },
    }));
  }

  // Draws lines. lines: {name, color (a name in the style sheet, or undefined for one of the series), width, dashed, points:
  // [{x, y}], band: [{x, low, high}] or none}. A point whose y is null makes a gap.
  function curves(parent, title, xTitle, yTitle, yOptions, lines) {
    const few = lines.every((line) => line.points.length < 4);
    const colorOf = (line, index) => line.color ? color(line.color) : series(index);
    const dataset = (line, index) => {
      const lineColor = colorOf(line, index);
      return { label: line.name, data: line.points, pointRadius: few ? 3 : 0, borderWidth: line.width || 1.5,
               borderColor: lineColor, backgroundColor: lineColor, borderDash: line.dashed ? [6, 5] : [], clip: 6 };
    };
    const last = Math.max(...lines.flatMap((line) => line.points.map((point) => point.x)));
    const told = lines.map((line) => {
      const values = line.points.map((point) => point.y).filter((value) => value !== null);
      return `${line.name}: ` + (values.length === 0 ? "no value"
        : `${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)} ${yTitle}`);
    });
    add(parent, title, told, () => ({
      height: lines.length > 1 ? 230 : 190, type: "line", legend: lines.length > 1 && lines.length <= 8,
      legendLabels: { filter: (item) => item.text !== "" },
      interaction: { mode: "nearest", intersect: false },
      data: { datasets: [...lines.map(dataset), ...lines.flatMap((line, index) => band(line, colorOf(line, index)))] },
      scales: { x: axis(xTitle, { type: "linear", max: last }), y: axis(yTitle, yOptions) },
    }));
  }

  // Returns the datasets of a line's band: its lower edge, and its upper edge, which is filled down to it. Both are
  // unnamed.
  function band(line, lineColor) {
    const edge = { label: "", pointRadius: 0, pointHitRadius: 0, borderWidth: 0, backgroundColor: lineColor + "30" };
    return !line.band ? [] : [
      { ...edge, data: line.band.map((point) => ({ x: point.x, y: point.low })) },
      { ...edge, data: line.band.map((point) => ({ x: point.x, y: point.high })), fill: "-1" },
    ];
  }

  const redrawAll = () => redraws.forEach((redraw) => redraw());
  // Paper has its own width and colours, but the print style sheet does not apply yet at beforeprint. So a class of the
  // page sets them.
  function setPaper(on) {
    onPaper = on;
    document.documentElement.classList.toggle("paper", on);
    if (!available) return;
    Chart.defaults.font.size = on ? 10 : 12;
    redrawAll();
  }
  // A new width of the page changes how labels break, and thus the heights of charts.
  function redrawAtOtherWidths() {
    let drawn = document.body.clientWidth;
    addEventListener("resize", () => {
      if (onPaper || document.body.clientWidth === drawn) return;
      drawn = document.body.clientWidth;
      redrawAll();
    });
  }
  if (available) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
    redrawAtOtherWidths();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  }

  return { available, setPaper, bars, steps, stack, scaling, curves };
})();
