"""Scripts that check a page for accessibility: keyboard, screen reader, themes."""

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
MEASURE_LIGHT = """() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}"""
FIND_WIDER = """(width) => [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility({opacityProperty: true}) && each.getBoundingClientRect().right > width)
    .map((each) => `${each.tagName}.${each.className}`)"""
