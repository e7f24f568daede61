// Colours of lines and classes, apart from each other on light and dark, also for most colour-blind people.

const ten = [
  '#4477aa',
  '#cc6677',
  '#228833',
  '#ddaa33',
  '#aa3377',
  '#44aa99',
  '#ee7733',
  '#6655bb',
  '#777777',
  '#997700',
];

export function classColor(index: number, count: number): string {
  if (index < 0) return '#888888';
  if (count <= ten.length) return ten[index % ten.length]!;
  return `hsl(${Math.round((360 * index * 0.61803) % 360)} ${50 + (index % 3) * 15}% ${40 + (index % 2) * 15}%)`;
}

export const lineColor = (index: number): string => ten[index % ten.length]!;

export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
