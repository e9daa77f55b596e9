"""What a person does with the page, and what they see."""

from urllib.parse import urlencode

from playwright.sync_api import expect


def address_of(*hints, **more):
    """Return the address of topics of some words."""
    return f"./?{urlencode([('t', urlencode({'q': hint})) for hint in hints] + list(more.items()))}"


def open_topics(page, *hints, **more):
    """Open the topics of some words."""
    page.goto(address_of(*hints, **more))
    see_topic(page, hints[0])
    expect(page.locator(".chip")).to_have_count(len(hints))


def see_topic(page, hint):
    """Wait until the topic of a hint is shown."""
    expect(page.locator("#topic-title")).to_have_text(hint)
    expect(page.locator(".columns")).to_have_attribute("aria-busy", "false")


def see_all(page):
    """Wait until the chart and the map are drawn too."""
    expect(page.locator(".lines svg, .bars")).to_be_visible()
    expect(page.locator(".plane canvas[data-drawn]")).to_be_visible()


def commit(page, hint):
    """Type a hint, and make it a chip."""
    page.locator("#query").fill(hint)
    see_topic(page, hint)
    page.locator("#query").press("Enter")


def circle(page, canvas, share):
    """Draw a line around the left part of a canvas."""
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    left, top, bottom = box["x"] + 2, box["y"] + 2, box["y"] + box["height"] - 2
    right = box["x"] + share * box["width"]
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 40)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def titles(page):
    """Return the titles of the documents that are listed."""
    return page.locator(".documents .title").all_inner_texts()


# The page begins to listen for files a moment after it is shown; it says that it does under a dragged one.
_DROP = """async ([name, text]) => {
    const files = new DataTransfer();
    files.items.add(new File([text], name));
    const send = (kind) =>
        document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true}));
    const isHeard = () => document.querySelector("main.is-over") !== null;
    for (let frame = 0; frame < 1800 && !isHeard(); frame++) {
        send("dragenter");
        await new Promise(requestAnimationFrame);
    }
    send("dragover");
    send("drop");
}"""


def drop_file(page, name, text):
    """Drop a file onto the page, as soon as it takes one."""
    page.evaluate(_DROP, [name, text])


# Scripts that look at a page: elements beyond a width, and how many pixels of a canvas are not grey.
FIND_WIDER = """(width) => [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility({opacityProperty: true}) && each.getBoundingClientRect().right > width)
    .map((each) => `${each.tagName}.${each.className}`)"""
COUNT_COLORED = """(canvas) => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
        const range = Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]);
        n += Number(data[i + 3] > 200 && range > 60);
    }
    return n;
}"""
