// Replacement of children that keeps the focus.

/** Set the children of an element; if they are the same, do nothing. */
export function arrange(parent, nodes) {
  if (parent.children.length === nodes.length && nodes.every((node, i) => parent.children[i] === node)) return;
  const focused = document.activeElement;
  parent.replaceChildren(...nodes);
  if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) focused.focus();
}
