/** Longer than what any browser sends, which is all that is looked at. */
const LOOKED_AT = 1000

/** The first that is found: each of these names itself besides the ones below it. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:Edg|EdgA|EdgiOS|Edge)\//, 'Edge'],
  [/\b(?:OPR|OPT|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
]

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac(?:intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
  [/\b(?:Free|Open|Net)BSD\b/, 'BSD'],
]

/**
 * What a `User-Agent` says, for people: `Firefox on Linux`, or the program's own name, like `curl`. Everybody can send
 * what they like, so it is a help to remember and proves nothing.
 * @returns '' when it says nothing
 */
export function describeBrowser(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, LOOKED_AT)
  const find = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(text))?.[1]
  const browser = find(BROWSERS)
  if (browser === undefined) return /^(?!Mozilla\b)([A-Za-z][\w.-]{0,39})(?:[/ ]|$)/.exec(text)?.[1] ?? ''
  const system = find(SYSTEMS)
  return system === undefined ? browser : `${browser} on ${system}`
}
