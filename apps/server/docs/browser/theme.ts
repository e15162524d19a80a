/** The same choice as the console's, in the same place (`apps/console/src/stores/preference.ts`). */
const KEY = 'color-scheme'
const SCHEMES = ['auto', 'light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]

const WORDS: Readonly<Record<Scheme, string>> = { auto: 'follow the system', light: 'light', dark: 'dark' }

function readScheme(): Scheme {
  try {
    const text = localStorage.getItem(KEY)
    return SCHEMES.find((scheme) => scheme === text) ?? 'auto'
  } catch (error) {
    console.warn('The colour scheme could not be read', error)
    return 'auto'
  }
}

/** Before the first paint, so that no page flashes in the wrong colours. */
export function applyScheme(): void {
  const scheme = readScheme()
  if (scheme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = scheme
}

/** Goes through system, light and dark. */
export function wireThemeButton(button: HTMLButtonElement): void {
  const show = () => {
    applyScheme()
    const scheme = readScheme()
    button.dataset.scheme = scheme
    button.setAttribute('aria-label', `Colour scheme: ${WORDS[scheme]}`)
  }
  button.addEventListener('click', () => {
    localStorage.setItem(KEY, SCHEMES[(SCHEMES.indexOf(readScheme()) + 1) % SCHEMES.length] ?? 'auto')
    show()
  })
  window.addEventListener('storage', show)
  show()
  button.hidden = false
}
