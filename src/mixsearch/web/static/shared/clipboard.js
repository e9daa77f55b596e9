// Copying to the clipboard, with a confirmation.

const CONFIRMED_FOR = 1500;

export async function copyText(page, text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Only a page from this machine or over https may use the clipboard.
    page.showError(new Error("The browser does not let this page copy. Select the text and copy it yourself."));
    return;
  }
  const label = button.textContent;
  button.textContent = "Copied";
  page.announce("Copied.");
  setTimeout(() => (button.textContent = label), CONFIRMED_FOR);
}
