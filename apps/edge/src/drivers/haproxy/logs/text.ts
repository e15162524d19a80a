interface Visit {
  time: string | undefined
  source: string | undefined
  request: string | undefined
}

export function textOf({ time, source, request = '' }: Visit, level: string, rest: string): string {
  const at = new Date(Number(time ?? 0)).toISOString()
  const asked = request.replace(/"/g, '%22').replace(/[^\x20-\x7e]/g, '?')
  return `[${level}] ${at} ${bareSource(source)} "${asked.slice(0, 1500)}" ${rest}`
}

/** Where one end has an IPv4 address and the other an IPv6 one, HAProxy writes both as IPv6. */
export function bareSource(source = ''): string {
  return source.replace(/^::ffff:(?=[\d.]+$)/, '')
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes}B`
  const units = ['KB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  let unit = 0
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(1)}${units[unit]}`
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${(ms / 1000).toFixed(1)}s`
  const minutes = Math.floor(seconds / 60)
  const two = (value: number) => String(value).padStart(2, '0')
  return minutes < 60
    ? `${minutes}m${two(seconds % 60)}s`
    : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`
}
