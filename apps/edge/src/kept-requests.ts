import type { TunnelSettings } from '@postern/contract/edge/desired-state'
import type { EdgeSettings, GivenEnvironment } from '@postern/contract/settings/settings'

/** What this edge keeps of ended requests. */
export type KeptRequests = NonNullable<TunnelSettings['requests']>

interface Own {
  settings: Pick<EdgeSettings, 'POSTERN_REQUESTS_DAYS' | 'POSTERN_REQUESTS_MB' | 'POSTERN_REQUESTS_QUERY'>
  given: GivenEnvironment
}

/**
 * The edge's own environment first, then what the server says.
 * @param said undefined: nothing yet
 */
export function keptRequestsOf({ settings, given }: Own, said: TunnelSettings['requests']): KeptRequests {
  const own: KeptRequests = {
    days: settings.POSTERN_REQUESTS_DAYS,
    megabytes: settings.POSTERN_REQUESTS_MB,
    hasQueries: settings.POSTERN_REQUESTS_QUERY === 'yes',
  }
  if (!said) return own
  return {
    days: given.POSTERN_REQUESTS_DAYS ? own.days : said.days,
    megabytes: given.POSTERN_REQUESTS_MB ? own.megabytes : said.megabytes,
    hasQueries: given.POSTERN_REQUESTS_QUERY ? own.hasQueries : said.hasQueries,
  }
}
