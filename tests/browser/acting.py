"""What a person does with the page of topics, and what they see."""

from urllib.parse import parse_qsl, urlencode, urlsplit

from playwright.sync_api import expect

# What the topic that is shown was found by.
HINT = "#topic .eyebrow b"


def search(page, query, **more):
    """Open the topic of some words."""
    page.goto(f"./?{urlencode({'q': query, **more})}")
    see_topic(page, query)


def see_topic(page, hint):
    """Wait until the topic of a hint is shown."""
    expect(page.locator(HINT)).to_have_text(hint)
    expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#answer .is-waiting")).to_have_count(0)


def words_shown(page):
    return page.locator(".word-row[data-word]").evaluate_all("rows => rows.map((row) => row.dataset.word)")


def asked(page):
    """Return the query in the address."""
    return {name: value for name, value in parse_qsl(urlsplit(page.url).query) if name != "index"}


def row_of(page, word):
    return page.locator(f'.word-row[data-word="{word}"]')


# The page begins to listen for files a moment after it is shown; it says that it does under a dragged one.
_DROP = """async ([name, text]) => {
    const files = new DataTransfer();
    files.items.add(new File([text], name));
    const send = (kind) =>
        document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true}));
    const isHeard = () => document.body.classList.contains("is-dropping");
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
