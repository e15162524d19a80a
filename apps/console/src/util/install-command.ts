import type { Config } from '@postern/contract/config'
import { serverUrls } from './urls.ts'

const TARGET = '/usr/local/bin/postern'

/**
 * The command that installs the agent on a node, or null when this installation was built without it.
 * The certificate may be self-signed (`-k`): what counts is the checksum, which came with the session.
 */
export function installCommand({ publicUrl, agentSha256 }: Config): string | null {
  if (agentSha256 === null) return null
  return [
    `curl -fsSk ${serverUrls.agent(publicUrl)} -o ${TARGET}`,
    `echo "${agentSha256}  ${TARGET}" | sha256sum -c`,
    `chmod +x ${TARGET}`,
  ].join(' && ')
}
