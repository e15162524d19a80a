/** A text of another program or of a visitor, without anything that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}
