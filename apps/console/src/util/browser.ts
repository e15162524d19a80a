/** The modifier key of shortcuts on this machine's keyboard. */
export const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '\u2318' : 'Ctrl'

/** Downloads a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // By then the browser holds its own reference to the content.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}

/** Begins a download from an address of the server. */
export function openAddress(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}
