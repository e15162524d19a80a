import { endpoints } from '@postern/contract/endpoints/endpoints'
import { findCidr } from '@postern/net/cidr'
import { isPrivate } from '@postern/net/special'
import type { FastifyInstance } from 'fastify'
import { publicUrl } from '../config.ts'
import { redirectUrlOf } from '../core/sign-in/callback.ts'
import { route } from '../http/route.ts'

/** What the server tells about itself. */
export function configRoutes(app: FastifyInstance): void {
  route(app, endpoints.health, async ({ context }) => {
    await context.db.selectFrom('settings').select('key').limit(1).execute()
    return { status: 'ok' as const }
  })
  route(app, endpoints.config, ({ context: { config, authority, agentFiles, providers }, caller }) => {
    const { settings, publicHost } = config
    const provider = providers.current()
    const toNode = {
      VPN_HOST: publicHost,
      TCP_SERVICES_PORT_RANGE: `${settings.POSTERN_PORT_RANGE.from}-${settings.POSTERN_PORT_RANGE.to}`,
      version: config.version,
    }
    if (caller.kind === 'node') return toNode
    const address = findCidr(publicHost)
    return {
      ...toNode,
      publicUrl: publicUrl(config),
      publicHostIsPrivate: address !== undefined && isPrivate(address),
      caFingerprint: authority.fingerprint,
      installerSha256: agentFiles?.installer.sha256 ?? null,
      signIn: provider ? { issuer: provider.issuer, redirectUrl: redirectUrlOf({ config }) } : null,
      repositoryUrl: settings.POSTERN_REPOSITORY_URL,
      sponsorUrl: settings.POSTERN_SPONSOR_URL,
      contactUrl: settings.POSTERN_CONTACT_URL,
    }
  })
}
