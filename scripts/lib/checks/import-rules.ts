/**
 * What may import what, as drawn in ARCHITECTURE.md. Tests may import anything; `scripts/import-rules.test.ts` checks
 * it.
 */
export interface ImportRule {
  /** A folder or file, or several. */
  from: readonly string[]
  /** The only things that it may import besides itself … */
  only?: readonly string[]
  /** … or what it may not import. */
  never?: readonly string[]
  because: string
  /** Files of `from` that are exempt from this rule. */
  except?: readonly string[]
}

const PAGES =
  'Pages do not import pages, and nothing below them does: shared parts belong in components or forms.'

/** Folders end in a slash; `npm:` and `node:` stand for packages and Node's own modules. */
export const IMPORT_RULES: readonly ImportRule[] = [
  {
    from: ['packages/net/'],
    only: [],
    because: 'packages/net is pure and imports nothing, so that every other package may use it.',
  },
  {
    from: ['packages/contract/'],
    only: ['packages/net/', 'npm:zod/mini'],
    because: 'packages/contract is for every program: it imports packages/net and zod/mini only.',
  },
  {
    from: ['packages/render/'],
    only: ['packages/net/', 'packages/contract/'],
    because: 'packages/render is pure, text in and text out: it imports contract and net only.',
  },
  {
    from: ['apps/*/'],
    never: ['apps/'],
    because: 'Apps never import apps: what two of them need belongs in packages/.',
  },
  {
    from: ['apps/agent/', 'apps/console/'],
    never: ['packages/render/'],
    because: 'Console and agent import no renderer: only the edge and the server use it.',
  },
  {
    from: ['packages/host/'],
    only: ['node:'],
    because: 'packages/host is for every program that runs on a machine: it imports Node only.',
  },
  {
    from: ['packages/', 'apps/edge/', 'apps/agent/', 'apps/console/', 'scripts/'],
    never: ['node:child_process'],
    except: ['packages/host/src/processes/exec.ts', 'packages/testkit/', '.mjs'],
    because:
      'Other programs are started in packages/host/src/processes/exec.ts only: one place for argv, time limits and output limits.',
  },
  {
    from: ['apps/server/'],
    never: ['node:child_process', 'packages/host/src/processes/exec.ts'],
    because: 'The server starts no other programs: whatever needs one belongs in the edge.',
  },
  {
    from: ['apps/console/'],
    never: ['packages/host/'],
    because: 'The console runs in a browser, where no machine of ours is reachable.',
  },
  {
    from: ['apps/edge/', 'apps/server/', 'apps/agent/', 'apps/console/', 'scripts/'],
    never: ['packages/testkit/'],
    because: 'Only tests use the testkit: no program may depend on it.',
  },
  {
    from: ['apps/server/src/core/'],
    never: ['apps/server/src/http/', 'apps/server/src/routes/', 'npm:fastify', 'npm:@fastify/'],
    because: 'core holds the rules and knows no HTTP: routes → core → db.',
  },
  {
    from: ['apps/server/src/db/'],
    never: ['apps/server/src/core/', 'apps/server/src/http/', 'apps/server/src/routes/', 'npm:fastify'],
    because: 'db knows tables only: routes → core → db.',
  },
  {
    from: ['apps/console/src/'],
    never: ['node:'],
    because: 'The console runs in a browser: nothing of Node.',
  },
  {
    from: ['apps/console/src/'],
    never: ['npm:zod/index', 'npm:zod/v4/classic'],
    because: 'The console ships zod/mini, the small build, and so does everything it imports.',
  },
  {
    from: ['apps/console/src/'],
    never: ['apps/console/src/pages/'],
    except: [
      'apps/console/src/pages/',
      'apps/console/src/routes.tsx',
      'apps/console/src/mount-login.tsx',
      'apps/console/src/mount-invite.tsx',
    ],
    because: PAGES,
  },
  {
    from: ['apps/console/src/pages/*/'],
    never: ['apps/console/src/pages/'],
    because: PAGES,
  },
  {
    from: ['apps/console/src/ui/', 'apps/console/src/util/'],
    never: [
      'npm:react-router',
      'npm:@tanstack/',
      ...['api', 'forms', 'components', 'table', 'stores', 'pages'].map(
        (name) => `apps/console/src/${name}/`,
      ),
    ],
    because: 'ui knows no router and no API: pages → forms, components, table → ui → util.',
  },
  {
    from: ['apps/console/src/util/'],
    never: ['apps/console/src/ui/'],
    because: 'util is the bottom of the console: it imports no layer above it.',
  },
]
