import * as z from 'zod/mini'

/** What a node may know of the installation. */
export const NodeConfig = z.object({
  VPN_HOST: z.string(),
  TCP_SERVICES_PORT_RANGE: z.string(),
  version: z.string(),
})
export type NodeConfig = z.infer<typeof NodeConfig>

/** What the console gets to know of it. */
export const Config = z.extend(NodeConfig, {
  /** `https://host[:port]`: where visitors and agents reach the installation. */
  publicUrl: z.string(),
  /** True when the public host is a private address, so that it cannot be reached from outside. */
  publicHostIsPrivate: z.boolean(),
  /** `sha256:<hex>` of the root certificate that signed the installation's own certificate. */
  caFingerprint: z.string(),
  /** `sha256` in hex of the script `/install/agent.sh`, which installs the agent; null when that was not built. */
  installerSha256: z.nullable(z.string()),
  /** The provider at which visitors of services sign in, and the redirect address to enter there; null: not set up. */
  signIn: z.nullable(z.object({ issuer: z.string(), redirectUrl: z.string() })),
  /** Links of the console; null hides them. */
  repositoryUrl: z.nullable(z.string()),
  sponsorUrl: z.nullable(z.string()),
  /** Where *Contact us* leads; null: to the documentation's own page. */
  contactUrl: z.nullable(z.string()),
})
export type Config = z.infer<typeof Config>
