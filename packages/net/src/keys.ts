/** A WireGuard key as text: 32 bytes in base64. The last character carries four bits, so only some may stand there. */
export function isWireGuardKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text)
}
