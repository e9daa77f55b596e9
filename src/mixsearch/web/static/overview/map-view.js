// What part of a map is in view: zoom and pan by pointer, wheel, pinch and keys, and a lasso.

const MAX_ZOOM = 60;
const MAX_STRETCH = 1.7; // of a wide map
const CLICK_WITHIN = 4; // pixels: a longer way is a drag
const LASSO_STEP = 4;

export class MapView {
  #pointers = new Map(); // id -> [x, y]
  /** @type {number[][]} */
  #path = [];
  #observer = new ResizeObserver(() => this.#resize());
  isLasso = false;
  scale = 1; // pixels of one unit down
  stretch = 1; // and across, as a multiple
  left = 0;
  top = 0;
  width = 0;
  height = 0;
  ratio = 1;

  /** Calls changed(); pointed(x, y) when the pointer moves, pressed(x, y) on a click, circled(path, isDone) for a lasso. */
  constructor(canvas, { changed, pointed, pressed, circled }) {
    this.canvas = canvas;
    this.changed = changed;
    this.pointed = pointed;
    this.pressed = pressed;
    this.circled = circled;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.#up(event));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    this.#observer.observe(canvas);
  }

  close() {
    this.#observer.disconnect();
  }

  /** The view in pixels of the image. */
  get inPixels() {
    const { scale, stretch, left, top, ratio } = this;
    return { across: scale * stretch * ratio, down: scale * ratio, left: left * ratio, top: top * ratio };
  }

  /** Return the radius of a point, in pixels of the image: smaller the more there are, larger in a closer view. */
  radiusFor(n) {
    const own = n > 50_000 ? 0.9 : n > 5_000 ? 1.4 : 2.2;
    return this.ratio * Math.min(own * Math.sqrt(this.scale / this.#fit), 5);
  }

  toPixels(x, y) {
    return [this.left + this.scale * this.stretch * x, this.top + this.scale * y];
  }

  toPlace(x, y) {
    return [(x - this.left) / (this.scale * this.stretch), (y - this.top) / this.scale];
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.#fit), MAX_ZOOM * this.#fit);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.#keepInside();
    this.changed();
  }

  pan(across, down) {
    this.left += across;
    this.top += down;
    this.#keepInside();
    this.changed();
  }

  reset() {
    this.scale = this.#fit;
    this.left = (this.width - this.scale * this.stretch) / 2;
    this.top = (this.height - this.scale) / 2;
    this.changed();
  }

  /** The scale at which all of the map is in view. */
  get #fit() {
    return Math.max(Math.min(this.width / this.stretch, this.height), 1);
  }

  /** A quarter of the map stays in view. */
  #keepInside() {
    const [wide, tall] = [this.width / 4, this.height / 4];
    this.left = Math.min(Math.max(this.left, wide - this.scale * this.stretch), this.width - wide);
    this.top = Math.min(Math.max(this.top, tall - this.scale), this.height - tall);
  }

  #resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0) return;
    const middle = this.toPlace(this.width / 2, this.height / 2);
    const closer = this.width > 0 ? this.scale / this.#fit : 1;
    [this.width, this.height, this.ratio] = [clientWidth, clientHeight, Math.min(devicePixelRatio, 2)];
    this.stretch = Math.min(Math.max(clientWidth / clientHeight, 1), MAX_STRETCH);
    [this.canvas.width, this.canvas.height] = [clientWidth * this.ratio, clientHeight * this.ratio].map(Math.round);
    if (closer === 1) {
      this.reset();
      return;
    }
    this.scale = closer * this.#fit;
    [this.left, this.top] = [this.width / 2 - this.scale * this.stretch * middle[0], this.height / 2 - this.scale * middle[1]];
    this.changed();
  }

  #down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.#path = [[event.offsetX, event.offsetY]];
    this.isCircling = this.#pointers.size === 1 && (this.isLasso || event.shiftKey);
    this.wasMoved = false;
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    const now = [event.offsetX, event.offsetY];
    if (!before) {
      this.pointed(now[0], now[1]);
      return;
    }
    const [start] = this.#path;
    this.wasMoved ||= Math.hypot(now[0] - start[0], now[1] - start[1]) > CLICK_WITHIN;
    if (this.isCircling) this.#extend(now);
    else if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, now);
    else if (this.wasMoved) this.pan(now[0] - before[0], now[1] - before[1]);
    if (this.wasMoved || this.#pointers.size === 2) this.#pointers.set(event.pointerId, now);
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    if (this.isCircling) this.circled(this.#path, true);
    else if (!this.wasMoved && event.type === "pointerup") this.pressed(event.offsetX, event.offsetY);
    this.isCircling = false;
  }

  #extend(now) {
    const last = this.#path[this.#path.length - 1];
    if (Math.hypot(now[0] - last[0], now[1] - last[1]) < LASSO_STEP) return;
    this.#path.push(now);
    this.circled(this.#path, false);
  }

  #pinch(id, before, now) {
    const [[, other]] = [...this.#pointers].filter(([each]) => each !== id);
    const length = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
    this.zoom(length(now) / length(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  /** The wheel scrolls the page, unless the map has the focus or Ctrl is held. */
  #wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
  }
}
