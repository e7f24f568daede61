// Who took part in which round: one row per client, one column per round or several.
import { themeColor } from './colors';
import type { Run } from './data';
import { el } from './dom';

export class Timeline {
  readonly figure: HTMLElement;
  private readonly canvas = el('canvas', { role: 'img' });
  private readonly words = el('p', { class: 'words' });
  private run: Run | null = null;
  private width = 0;

  constructor() {
    this.figure = el(
      'figure',
      { class: 'timeline' },
      el(
        'figcaption',
        {},
        el('strong', {}, 'Rounds and clients'),
        el('span', { class: 'note' }, 'one row per client; filled: its update counted; red: missed or refused'),
      ),
      el('div', { class: 'wide' }, this.canvas),
      this.words,
    );
    new ResizeObserver((entries) => {
      const width = Math.floor(entries[0]!.contentRect.width);
      if (width > 0 && width !== this.width) {
        this.width = width;
        this.draw();
      }
    }).observe(this.figure);
  }

  show(run: Run): void {
    this.run = run;
    this.draw();
  }

  draw(): void {
    const run = this.run;
    if (!run || this.width === 0) return;
    const clients = Math.max(run.clientCount, run.clients?.clients.length ?? 0);
    const rounds = Math.max(run.rounds.length, run.wanted);
    this.figure.hidden = clients === 0 || rounds === 0;
    if (this.figure.hidden) return;
    const row = clients > 60 ? 4 : clients > 20 ? 8 : 16;
    const height = clients * row;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height}px`;
    const draw = this.canvas.getContext('2d')!;
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.fillStyle = themeColor('--grid');
    draw.fillRect(0, 0, this.width, height);
    const columns = Math.min(rounds, this.width);
    const step = this.width / columns;
    const gap = step > 4 ? 1 : 0;
    // Rounds that fall into one column are told by how many of them a client was in.
    const taken = new Float32Array(columns * clients);
    const all = new Uint32Array(columns);
    run.who.forEach((who, i) => {
      const column = Math.min(columns - 1, Math.floor((i * columns) / rounds));
      ++all[column]!;
      for (const client of who) taken[column * clients + client]! += 1;
    });
    draw.fillStyle = themeColor('--accent');
    for (let column = 0; column < columns; ++column) {
      for (let client = 0; client < clients && all[column]! > 0; ++client) {
        const share = taken[column * clients + client]! / all[column]!;
        if (share === 0) continue;
        draw.globalAlpha = 0.15 + 0.85 * share;
        draw.fillRect(column * step, client * row, step - gap, row - 1);
      }
    }
    draw.globalAlpha = 1;
    draw.fillStyle = themeColor('--bad');
    const places = new Map((run.clients?.clients ?? []).map((client) => [client.name, client.place]));
    for (const event of run.audit?.events ?? []) {
      const place = places.get(event.client ?? '');
      if (place === undefined || !event.round || (event.event !== 'miss' && event.event !== 'refuse')) continue;
      const column = Math.min(columns - 1, Math.floor(((event.round - 1) * columns) / rounds));
      draw.fillRect(column * step, place * row, Math.max(1, step - gap), row - 1);
    }
    const mean = run.who.reduce((sum, who) => sum + who.size, 0) / Math.max(1, run.who.length);
    this.words.textContent = `${run.rounds.length} of ${rounds} rounds, ${clients} clients, ${mean.toFixed(1)} a round`;
    this.canvas.setAttribute('aria-label', `Who took part: ${this.words.textContent}`);
  }
}
