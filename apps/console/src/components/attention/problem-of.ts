import type { Attention } from '@postern/contract/overview'

/** What is wrong, in words. */
export function problemOf({ problem, lost }: Attention): string {
  if (lost === null) return problem ?? ''
  if (lost.services === 0) return 'It has no enabled services.'
  return lost.services === 1
    ? 'Its service is unreachable.'
    : `Its ${lost.services} services are unreachable.`
}
