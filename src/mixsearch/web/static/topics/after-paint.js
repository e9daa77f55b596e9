// Run a function after the next paint.

export function afterPaint(then) {
  requestAnimationFrame(() => {
    // A message event follows the frame without the delay of a timer.
    const channel = new MessageChannel();
    channel.port1.onmessage = then;
    channel.port2.postMessage(null);
  });
}
