import type { Edge } from '@postern/contract/edge/edge'
import { type AddedEdge, EdgeForm, type EdgeFormInput } from '@postern/contract/edge/join'
import { endpoints as all } from '@postern/contract/endpoints/console-endpoints'
import { edges as endpoints } from '@postern/contract/endpoints/edges'
import { settings } from '@postern/contract/endpoints/settings'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer, useConfig } from '../../api/queries.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { CheckboxField } from '../fields/bound-fields.tsx'
import { TextField } from '../fields/TextField.tsx'
import { RecordDialog } from '../shell/RecordDialog.tsx'
import { useFormDialog } from '../shell/use-form-dialog.ts'
import { ControlDialog } from './ControlDialog.tsx'
import { JoinDialog } from './JoinDialog.tsx'
import { useEdgeInstaller } from './use-edge-installer.ts'

interface Props {
  /** The edge to change; without one a new edge is made. */
  edge?: Edge | undefined
  onClose: () => void
}

/** The form of an edge. Before a new one: how its port is opened, where it is not; after it: how a machine joins. */
export function EdgeDialog({ edge, onClose }: Props) {
  const [added, setAdded] = useState<AddedEdge>()
  const opened = useAnswer(settings.getSettings, {}, { enabled: !edge })
  if (added) return <JoinDialog edge={added.edge} join={added.join} onClose={onClose} />
  // The first answer comes at once; without one the server says the same, when it is asked.
  if (!edge && opened.isPending) return null
  const listen = opened.data?.settings.find(({ name }) => name === 'POSTERN_CONTROL_LISTEN')
  if (!edge && listen && listen.value === null)
    return <ControlDialog busy={opened.isFetching} onAgain={() => void opened.refetch()} onClose={onClose} />
  return <EdgeFields edge={edge} onClose={onClose} onAdded={setAdded} />
}

interface FieldsProps extends Props {
  onAdded: (added: AddedEdge) => void
}

type Saved = { edge: Edge } | { added: AddedEdge }

const valuesOf = (edge: Edge | undefined): EdgeFormInput => ({
  name: edge?.name ?? '',
  place: edge?.place ?? '',
  host: edge?.host ?? '',
  servesConsole: edge?.servesConsole ?? false,
})

function EdgeFields({ edge, onClose, onAdded }: FieldsProps) {
  const api = useApi()
  const queries = useQueryClient()
  useEdgeInstaller(!edge)
  const publicHost = useConfig().data?.VPN_HOST
  const { form, record, dialog } = useFormDialog<EdgeFormInput, EdgeForm, Edge, Saved>({
    schema: EdgeForm,
    record: edge,
    valuesOf,
    create: async (body) => ({ added: await api.call(endpoints.addEdge, { body }) }),
    update: async ({ id }, body) => ({ edge: await api.call(endpoints.editEdge, { params: { id }, body }) }),
    async fetch({ id }) {
      const edges = await api.call(all.listEdges, {})
      // The one that another person removed is refused when it is saved.
      return edges.find((each) => each.id === id) ?? (edge as Edge)
    },
    onSaved: (saved) => {
      void reload(queries, { queryKey: [all.listEdges.path] })
      if ('added' in saved) return onAdded(saved.added)
      toast.success('Edge updated successfully!', saved.edge.name)
      onClose()
    },
  })
  const { control } = form
  const isBeside = record?.number === 1
  return (
    <RecordDialog
      title={record ? 'Edit Edge' : 'Add Edge'}
      description={
        record
          ? 'Nodes and the edge follow by themselves'
          : 'The next step shows the line that makes a machine this edge'
      }
      submitText={record ? 'Save' : 'Next'}
      onClose={onClose}
      {...dialog}
    >
      <TextField
        control={control}
        name="name"
        label="Name"
        required
        autoComplete="off"
        hint="It tells edges apart, here and in messages."
      />
      <TextField
        control={control}
        name="place"
        label="Place (optional)"
        autoComplete="off"
        placeholder="Frankfurt, rack 12"
      />
      <TextField
        control={control}
        name="host"
        label="Address (optional)"
        mono
        autoComplete="off"
        autoCapitalize="none"
        placeholder={isBeside ? publicHost : '203.0.113.20'}
        hint={`The name or address at which nodes reach this machine. Without one ${isBeside ? 'they use the public host' : "the machine's own is used"}.`}
      />
      <CheckboxField
        control={control}
        name="servesConsole"
        label="Serves the Console"
        disabled={isBeside}
        text={
          isBeside
            ? 'The edge beside the server always does.'
            : 'People and agents reach the console through it, too. Its machine could then read their passwords and tokens: only where you trust it as much as the server.'
        }
      />
    </RecordDialog>
  )
}
