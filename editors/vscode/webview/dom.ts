/** Small helpers to make elements. Nothing of a session is ever parsed as HTML: all of it becomes text nodes. */

/** Make an element. */
export function make(tag: string, attributes: Readonly<Record<string, string>>, ...content: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

/** An element the page has. */
export function need(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`the page has no #${id}`);
  }
  return element;
}
