/** RFC 3339; null: there is no certificate yet. */
export interface Life {
  not_before: string | null
  not_after: string | null
}

/** Two thirds of the life are over, or there is none yet. */
export function isDue({ not_before, not_after }: Life, now: number): boolean {
  const [from, to] = [Date.parse(not_before ?? ''), Date.parse(not_after ?? '')]
  return !(now >= from && now < from + ((to - from) * 2) / 3)
}
