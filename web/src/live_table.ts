// A table whose rows change while somebody reads it: the region stays, with its focus and place.
import { el, replace } from './dom';

export class LiveTable {
  readonly region: HTMLElement;
  private readonly head = el('tr');
  private readonly body = el('tbody');

  constructor(name: string) {
    this.region = el(
      'div',
      { class: 'wide scroll', tabindex: 0, role: 'region', 'aria-label': name },
      el('table', {}, el('thead', {}, this.head), this.body),
    );
  }

  // The first cell of a row is its heading.
  show(names: string[], rows: (string | number)[][]): void {
    replace(this.head, ...names.map((name) => el('th', { scope: 'col' }, name)));
    replace(
      this.body,
      ...rows.map((row) =>
        el('tr', {}, ...row.map((cell, i) => (i === 0 ? el('th', { scope: 'row' }, cell) : el('td', {}, cell)))),
      ),
    );
  }
}
