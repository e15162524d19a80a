/** @param ports at least one */
export function heldPorts(ports: readonly number[]): string {
  const unique = [...new Set(ports)].sort((a, b) => a - b)
  const [noun, verb] = unique.length > 1 ? ['Ports', 'are'] : ['Port', 'is']
  return `${noun} ${unique.join(' and ')} ${verb} held by another program`
}

/** What HAProxy wrote when it did not start, in words for people. */
export function explainStart(output: string): string {
  const held = boundPorts(output, 'Address already in use')
  if (held.length > 0) return heldPorts(held)
  const denied = boundPorts(output, 'Permission denied')
  if (denied.length > 0)
    return `HAProxy may not open port ${[...new Set(denied)].join(' and ')}: it needs root`
  const alert = /\[ALERT\][^:]*: (?:config : )?(.*)/.exec(output)?.[1]
  return `HAProxy does not start: ${(alert ?? 'it gave no reason').slice(0, 300)}`
}

function boundPorts(output: string, reason: string): number[] {
  const found = output.matchAll(new RegExp(`cannot bind socket \\(${reason}\\) for \\[.*?:(\\d+)\\]`, 'g'))
  return [...found].map(([, port]) => Number(port))
}
