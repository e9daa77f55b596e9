// Children that are moved as little as can be: an element that is taken out of the page loses the focus.

/** Make these the children of an element. */
export function arrange(parent, nodes) {
  if (parent.children.length === nodes.length && nodes.every((node, i) => parent.children[i] === node)) return;
  const focused = document.activeElement;
  parent.replaceChildren(...nodes);
  if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) focused.focus();
}
