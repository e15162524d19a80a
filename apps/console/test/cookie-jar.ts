type Cookie = { value: string; isSecure: boolean }

/** The cookies of one host in a browser, and all that was ever set. */
export function makeCookieJar() {
  const kept = new Map<string, Cookie>()
  const written: string[] = []
  const set = (text: string, isHttps: boolean) => {
    written.push(text)
    const [pair = '', ...attributes] = text.split('; ')
    const [name = '', value = ''] = pair.split(/=(.*)/)
    if (kept.get(name)?.isSecure && !isHttps) return
    if (value === '') kept.delete(name)
    else kept.set(name, { value, isSecure: attributes.includes('Secure') })
  }
  const at = (protocol: string) => {
    const isHttps = protocol === 'https:'
    return {
      get cookie() {
        const seen = [...kept].filter(([, { isSecure }]) => isHttps || !isSecure)
        return seen.map(([name, { value }]) => `${name}=${value}`).join('; ')
      },
      set cookie(text: string) {
        set(text, isHttps)
      },
    }
  }
  return { at, written, names: () => [...kept.keys()].sort() }
}
