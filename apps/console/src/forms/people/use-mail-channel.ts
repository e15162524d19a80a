import { alerts } from '@postern/contract/endpoints/alerts'
import { useAnswer } from '../../api/queries.ts'

/** Whether links can be sent by e-mail: some channel for it is enabled. False while nobody knows. */
export function useMailChannel(): boolean {
  const channels = useAnswer(alerts.listChannels, {}).data
  return channels?.some(({ kind, enabled }) => kind === 'email' && enabled) ?? false
}
