/** The address of `203.0.113.7:51820` or `[2001:db8::7]:51820`. */
export function hostOf(endpoint: string): string {
  return endpoint
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
}
