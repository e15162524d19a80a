/** The key of commands, as this machine's keyboard has it. */
export const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '\u2318' : 'Ctrl'

/** Gives the person a file to keep. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has its own hold on the content by then.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
