"""Scripts that check a page for accessibility."""

FIND_WIDER = """(width) => [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility({opacityProperty: true}) && each.getBoundingClientRect().right > width)
    .map((each) => `${each.tagName}.${each.className}`)"""
# How many pixels of a canvas have a color that is not a grey.
COUNT_COLORED = """(canvas) => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
        const range = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
        n += Number(data[i + 3] > 200 && range > 60);
    }
    return n;
}"""
