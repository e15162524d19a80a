import type { AlertMessage } from '@postern/contract/alerts/alerts'

/** Cuts a text to whole characters, with an ellipsis where something is missing. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

export const isEnd = ({ event }: AlertMessage) => event === 'cleared'
