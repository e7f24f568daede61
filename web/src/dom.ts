// Elements with text: nothing from outside is ever parsed as markup.

export type Child = Node | string | number | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | ((event: Event) => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children)
    if (child !== null && child !== undefined)
      element.append(String(child) === child || typeof child === 'number' ? String(child) : (child as Node));
  return element;
}

// A part that its file's damage keeps from being shown leaves the others alone.
export function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    console.warn('a part of the page could not be shown', error);
    return null;
  }
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(
  tag: string,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

// A section with a heading; `id` lets the keyboard and links reach it.
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), ...children);
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(
    ...children
      .filter((c): c is Node | string | number => c !== null && c !== undefined)
      .map((c) => (typeof c === 'number' ? String(c) : c)),
  );
}
