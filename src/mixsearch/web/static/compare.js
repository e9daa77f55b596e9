import { h, replace } from "./dom.js";
export function show(root) { replace(root, h("p", {}, "Soon")); }
