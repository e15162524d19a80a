import { stat } from 'node:fs/promises'
import { codeOf } from '@postern/host/errors'
import { getRevision } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { PLACES } from '../tunnel/addresses.ts'
import { type Family, labelsOf, NO_LABELS } from './family.ts'
import type { KnownNode } from './inventory.ts'

/** What concerns the installation as a whole. */
export async function measureServer(
  { db, config, tunnel }: Context,
  nodes: readonly KnownNode[],
): Promise<Family[]> {
  const one = (name: string, help: string, value: number): Family => ({
    name: `postern_${name}`,
    kind: 'gauge',
    help,
    samples: [[NO_LABELS, value]],
  })
  const databases = { main: config.paths.database, figures: config.paths.liveDatabase }
  const sizes = await Promise.all(
    Object.entries(databases).map(
      async ([database, file]) => [labelsOf({ database }), await sizeOf(file)] as const,
    ),
  )
  return [
    {
      name: 'postern_build_info',
      kind: 'gauge',
      help: 'The server, with its version.',
      samples: [[labelsOf({ version: config.version }), 1]],
    },
    one('revision', 'The newest change of the configuration.', await getRevision(db)),
    {
      name: 'postern_tunnel_info',
      kind: 'gauge',
      help: 'The tunnel, with its network.',
      samples: [[labelsOf({ network: tunnel.network4 }), 1]],
    },
    one(
      'tunnel_addresses',
      'Addresses of the tunnel that nodes have.',
      nodes.filter(({ isLocal }) => !isLocal).length,
    ),
    one('tunnel_addresses_limit', 'Addresses of the tunnel that nodes can have.', PLACES),
    {
      name: 'postern_database_size_bytes',
      kind: 'gauge',
      help: 'What a database takes on the disk: main, or that of figures.',
      samples: sizes,
    },
  ]
}

/** With what is not in the file itself yet. */
async function sizeOf(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((each) =>
      stat(each).then(
        ({ size }) => size,
        (error: unknown) => {
          if (codeOf(error) === 'ENOENT') return 0
          throw error
        },
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
