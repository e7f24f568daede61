// Lines over rounds, by uPlot.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { lineColor, themeColor } from './colors';
import { el } from './dom';
import { short } from './format';

export interface Line {
  label: string;
  x: number[];
  y: (number | null)[];
  dashed?: boolean;
  scale?: number; // a factor for display
}

// Between ticks of rounds: 1, 2, 5, 10, ...
const wholeSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((step) => [step, 2 * step, 5 * step]);

// A chart that can be given new values. Its figure says in words what it shows last.
export class Chart {
  readonly figure: HTMLElement;
  private readonly body = el('div', { class: 'plot' });
  private readonly words = el('p', { class: 'words' });
  private plot: uPlot | null = null;
  private lines: Line[] = [];
  private unit: string;
  private width = 0;

  constructor(title: string, note: string, unit = '') {
    this.unit = unit;
    this.figure = el(
      'figure',
      { class: 'chart' },
      el('figcaption', {}, el('strong', {}, title), el('span', { class: 'note' }, note)),
      this.body,
      this.words,
    );
    this.body.setAttribute('role', 'img');
    this.body.setAttribute('aria-label', title);
    new ResizeObserver((entries) => {
      const width = Math.floor(entries[0]!.contentRect.width);
      if (width > 0 && width !== this.width) {
        this.width = width;
        this.plot?.setSize({ width, height: this.height() });
        if (!this.plot) this.redraw();
      }
    }).observe(this.body);
  }

  private height(): number {
    return this.width < 420 ? 170 : 200;
  }

  show(lines: Line[]): void {
    const given = lines.filter((line) => line.y.some((value) => value !== null));
    const same = given.length === this.lines.length && given.every((line, i) => line.label === this.lines[i]!.label);
    this.lines = given;
    this.figure.hidden = given.length === 0;
    this.words.textContent = given
      .map((line) => {
        const last = [...line.y].reverse().find((value) => value !== null);
        return `${line.label} ${last === undefined || last === null ? '-' : short(last * (line.scale ?? 1))}${this.unit}`;
      })
      .join(', ');
    if (this.plot && same) this.plot.setData(this.data());
    else this.redraw();
  }

  // Anew: after the first data, another set of lines or other colours.
  redraw(): void {
    this.plot?.destroy();
    this.plot = null;
    if (this.width === 0 || this.lines.length === 0) return;
    const axis = {
      stroke: themeColor('--faint'),
      grid: { stroke: themeColor('--grid'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
    };
    this.plot = new uPlot(
      {
        width: this.width,
        height: this.height(),
        scales: { x: { time: false } },
        legend: { show: false },
        cursor: { drag: { x: true, y: false } },
        axes: [
          { ...axis, space: 60, incrs: wholeSteps },
          { ...axis, size: 52, values: (_plot, ticks) => ticks.map((tick) => short(tick)) },
        ],
        series: [
          {},
          ...this.lines.map((line, i) => ({
            label: line.label,
            stroke: lineColor(i),
            width: 2,
            dash: line.dashed ? [6, 4] : undefined,
            spanGaps: true,
            // A value alone makes no line.
            points: {
              show: (plot: uPlot, series: number) => Array.from(plot.data[series] ?? []).filter((y) => y !== null).length < 2,
            },
          })),
        ],
      },
      this.data(),
      this.body,
    );
    // The canvas speaks through its figure.
    for (const canvas of this.body.querySelectorAll('canvas')) canvas.setAttribute('aria-hidden', 'true');
    const legend = el('ul', { class: 'legend', 'aria-hidden': 'true' });
    this.lines.forEach((line, i) => {
      const mark = el('span', { class: line.dashed ? 'mark dashed' : 'mark' });
      mark.style.borderColor = lineColor(i);
      legend.append(el('li', {}, mark, line.label));
    });
    this.body.querySelector('.legend')?.remove();
    this.body.append(legend);
  }

  private data(): uPlot.AlignedData {
    const xs = [...new Set(this.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    const ys = this.lines.map((line) => {
      const column = new Array<number | null>(xs.length).fill(null);
      line.x.forEach((x, i) => {
        const value = line.y[i];
        column[place.get(x)!] = value === null || value === undefined ? null : value * (line.scale ?? 1);
      });
      return column;
    });
    return [xs, ...ys] as uPlot.AlignedData;
  }
}
