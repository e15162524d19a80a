const day = new Intl.DateTimeFormat('en-US', { month: '2-digit', day: '2-digit', year: 'numeric' })
const moment = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium' })

function find(time: string | number | null | undefined): Date | undefined {
  if (time === null || time === undefined) return undefined
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** MM/dd/yyyy in the browser's time zone; a dash for nothing. */
export function formatDate(time: string | number | null | undefined): string {
  const date = find(time)
  return date ? day.format(date) : '-'
}

/** A full date and time, for tooltips. */
export function formatMoment(time: string | number | null | undefined): string {
  const date = find(time)
  return date ? moment.format(date) : '-'
}
