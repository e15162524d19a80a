import type { Finder } from '../sight.ts'

/** Where a directory for them is set: the last try failed, or there has been none for days. */
export const findFailedBackup: Finder = ({ context: { backups, config } }, rule) => {
  const { directory, failure } = backups.state()
  const found = (problem: string) => [{ key: 'backup-failed', rule, name: config.publicHost, problem }]
  if (failure !== null)
    return found(`No backup could be made in ${directory}: ${failure.problem} It is tried again every hour.`)
  if (!backups.isMissed()) return []
  return found(
    `There has been no backup in ${directory} for two days. Look whether its disk answers, and choose Back Up Now under Settings.`,
  )
}
