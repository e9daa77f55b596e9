// The ellipse that holds most of some points.

const HALF_SQUARE = 2.45; // of 95% of a Gaussian in the plane, in deviations
const MIN_POINTS = 3;

/**
 * Return the path of the ellipse of points with weights, in their own units; null if there are too few.
 * @param {number[]} x @param {number[]} y @param {(i: number) => number} weightOf
 * @returns {[number, number][] | null}
 */
export function ellipseOf(x, y, weightOf) {
  const sums = { n: 0, w: 0, x: 0, y: 0, xx: 0, xy: 0, yy: 0 };
  const each = (visit) => {
    for (let i = 0; i < x.length; i++) {
      const weight = weightOf(i);
      if (weight > 0 && Number.isFinite(x[i]) && Number.isFinite(y[i])) visit(i, weight);
    }
  };
  each((i, weight) => {
    sums.n += 1;
    sums.w += weight;
    sums.x += weight * x[i];
    sums.y += weight * y[i];
  });
  if (sums.n < MIN_POINTS) return null;
  const [meanX, meanY] = [sums.x / sums.w, sums.y / sums.w];
  each((i, weight) => {
    sums.xx += weight * (x[i] - meanX) ** 2;
    sums.xy += weight * (x[i] - meanX) * (y[i] - meanY);
    sums.yy += weight * (y[i] - meanY) ** 2;
  });
  // The Cholesky factor turns a circle into the ellipse.
  const a = Math.sqrt(sums.xx / sums.w);
  const b = a > 0 ? sums.xy / sums.w / a : 0;
  const c = Math.sqrt(Math.max(sums.yy / sums.w - b * b, 0));
  return Array.from({ length: 61 }, (_, i) => {
    const [cos, sin] = [Math.cos((i * Math.PI) / 30), Math.sin((i * Math.PI) / 30)];
    return [meanX + HALF_SQUARE * a * cos, meanY + HALF_SQUARE * (b * cos + c * sin)];
  });
}
