// Numbers for people.

export const percent = (share: number, digits = 2): string => `${(100 * share).toFixed(digits)} %`;

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (count >= 1000 && at < units.length - 1) {
    count /= 1000;
    ++at;
  }
  return `${at === 0 ? count : count.toFixed(1)} ${units[at]}`;
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '-';
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}
