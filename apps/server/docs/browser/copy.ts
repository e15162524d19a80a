const SHOWN_FOR = 2000

/** A copy button at each block of code, unless the browser has no clipboard for the page. */
export function addCopyButtons(root: ParentNode): void {
  if (!navigator.clipboard) return
  for (const block of root.querySelectorAll('pre')) {
    const frame = document.createElement('div')
    frame.className = 'code'
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.setAttribute('aria-live', 'polite')
    block.replaceWith(frame)
    frame.append(block, button)
    button.addEventListener('click', () => void copy(block.textContent.trimEnd(), button))
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch (error) {
    console.warn('The clipboard is not available', error)
    button.textContent = 'Not copied'
  }
  setTimeout(() => {
    button.textContent = 'Copy'
  }, SHOWN_FOR)
}
