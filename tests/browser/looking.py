"""Scripts that check a page for accessibility: keyboard, screen reader, contrast."""

CONTROLS = '"a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=option]"'
FIND_NAMELESS = f"""() => {{
    const text = (each) => [...each.childNodes].filter((node) => !node.ariaHidden || node.ariaHidden !== "true")
        .map((node) => node.nodeType === 3 ? node.data : node.alt ?? text(node)).join(" ");
    const named = (each) => each.getAttribute("aria-label")
        || (each.getAttribute("aria-labelledby") ?? "").split(" ")
            .map((id) => document.getElementById(id)?.textContent).join("")
        || [...each.labels ?? []].map((label) => label.textContent).join("")
        || text(each);
    return [...document.querySelectorAll({CONTROLS})]
        .filter((each) => each.checkVisibility() && each.ariaHidden !== "true")
        .filter((each) => each.getAttribute("tabindex") !== "-1")
        .filter((each) => !named(each)?.trim())
        .map((each) => each.outerHTML.slice(0, 120));
}}"""
# Radio buttons of one name are one stop; every control gets a number, under which it is found again.
NUMBER_STOPS = f"""() => {{
    const stops = [...document.querySelectorAll({CONTROLS})]
        .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility() && each.role !== "option");
    return Object.fromEntries(stops.map((each, place) => {{
        each.dataset.stop = place;
        return [place, each.type === "radio" ? `radio ${{each.name}}` : `${{place}} ${{each.outerHTML.slice(0, 80)}}`];
    }}));
}}"""
IS_FOCUS_SEEN = """(each) => {
    const around = [each, each.parentElement, each.closest("form") ?? each].map((one) => getComputedStyle(one));
    return each.matches(":focus-visible") && around.some((style) =>
        (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none");
}"""
# The text of every element beside the colours behind it, as the rules of WCAG count: [text, contrast, is large, style].
MEASURE_CONTRASTS = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const parsed = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
        return [red, green, blue, alpha / 255];
    };
    const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
    const behind = (each) => {
        if (!each) return [255, 255, 255];
        const colour = parsed(getComputedStyle(each).backgroundColor);
        return colour[3] === 1 ? colour.slice(0, 3) : over(colour, behind(each.parentElement));
    };
    const inDrawing = (each, below) => {
        const disc = each.closest("a")?.querySelector(".disc");
        if (!disc) return below;
        const { fill, fillOpacity } = getComputedStyle(disc);
        return over([...parsed(fill).slice(0, 3), Number(fillOpacity)], below);
    };
    const light = (colour) => {
        const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = colour.map((part) => linear(part / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faded = (each) => each ? Number(getComputedStyle(each).opacity) * faded(each.parentElement) : 1;
    const measured = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const each = walker.currentNode.parentElement;
        const text = walker.currentNode.data.trim();
        if (!text || !each.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
        if (each.closest(".visually-hidden, .skip, :disabled")) continue;
        const style = getComputedStyle(each);
        const drawing = each.closest("svg");
        const back = drawing ? inDrawing(each, behind(drawing.parentElement)) : behind(each);
        const colour = parsed(drawing ? style.fill : style.color);
        const front = over([...colour.slice(0, 3), colour[3] * faded(each)], back);
        const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        measured.push([text.slice(0, 40), (high + 0.05) / (low + 0.05), isLarge, `${style.color} ${each.className}`]);
    }
    return measured;
}"""
MEASURE_LIGHT = """() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}"""
FIND_WIDER = """(width) => [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility({opacityProperty: true}) && each.getBoundingClientRect().right > width)
    .map((each) => `${each.tagName}.${each.className}`)"""
