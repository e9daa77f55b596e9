// Points within a line that was drawn around them.

/** Return whether a point is inside a polygon. @param {number[][]} polygon */
export function isInside(x, y, polygon) {
  let isIn = false;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isIn = !isIn;
  });
  return isIn;
}
