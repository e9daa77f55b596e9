// When something that was just shown has reached the screen.

export function afterPaint(then) {
  requestAnimationFrame(() => {
    // A message is handled after the frame, without the delays that timers have.
    const channel = new MessageChannel();
    channel.port1.onmessage = then;
    channel.port2.postMessage(null);
  });
}
