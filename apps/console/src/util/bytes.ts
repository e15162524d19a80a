const UNITS = ['Bytes', 'KB', 'MB', 'GB', 'TB'] as const

const kilobytes = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Bytes in their best unit of 1024, two decimals: `9.41 MB`; a dash for zero or nothing. */
export function formatBytes(bytes: number | null | undefined): string {
  if (!bytes || bytes < 0) return '-'
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(2)} ${UNITS[unit]}`
}

/** Bytes as KB with two decimals and grouped thousands, so that rows compare at a glance: `9,631.20`. */
export function formatKilobytes(bytes: number | null | undefined): string {
  if (!bytes || bytes < 0) return '-'
  return kilobytes.format(bytes / 1024)
}
