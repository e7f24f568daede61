// Who owns what: one bar per client, its parts the classes.
import { classColor } from './colors';
import type { Clients } from './data';
import { el, svg } from './dom';

const mostBars = 200;

export function partitionPicture(clients: Clients): HTMLElement {
  const { classes } = clients;
  const shown = clients.clients.slice(0, mostBars);
  const most = Math.max(1, ...shown.map((client) => client.images));
  const row = shown.length > 40 ? 8 : 22;
  const left = 110;
  const width = 720;
  const height = shown.length * row;
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': `Images of ${clients.clients.length} clients by class`,
    class: 'partition',
  });
  shown.forEach((client, i) => {
    let x = left;
    if (row > 10) {
      const name = svg('text', { x: left - 6, y: i * row + row / 2 + 4, 'text-anchor': 'end' });
      name.textContent = client.name.length > 14 ? `${client.name.slice(0, 13)}…` : client.name;
      picture.append(name);
    }
    const counts = client.counts && classes.length > 0 ? client.counts : [client.images];
    counts.forEach((count, c) => {
      if (count === 0) return;
      const size = ((width - left - 60) * count) / most;
      const part = svg('rect', {
        x,
        y: i * row + 1,
        width: Math.max(0.5, size),
        height: row - 2,
        fill: classColor(classes.length > 0 ? c : -1, classes.length),
      });
      const title = svg('title');
      title.textContent = `${client.name}: ${count} images${classes[c] !== undefined ? ` of ${classes[c]}` : ''}`;
      part.append(title);
      picture.append(part);
      x += size;
    });
    if (row > 10) {
      const count = svg('text', { x: x + 5, y: i * row + row / 2 + 4, class: 'faint' });
      count.textContent = String(client.images);
      picture.append(count);
    }
  });
  const legend = el('ul', { class: 'legend' });
  classes.slice(0, 20).forEach((name, c) => {
    const mark = el('span', { class: 'box' });
    mark.style.background = classColor(c, classes.length);
    legend.append(el('li', {}, mark, name));
  });
  if (classes.length > 20) legend.append(el('li', {}, `and ${classes.length - 20} more`));
  return el(
    'figure',
    {},
    el(
      'figcaption',
      { class: 'note' },
      'Images of each client, one colour per class. Clients do not see this; the simulation does.',
    ),
    el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Picture of the partition' }, picture),
    legend,
  );
}
