import type { AlertRule } from '@postern/contract/alerts/rules'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { reload, useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { ask } from '../../components/ask.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import type { Column } from '../../ui/data/Table.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { Menu } from '../../ui/overlay/Menu.tsx'
import { AlertsFrame } from './AlertsFrame.tsx'
import { BuiltInRuleDialog, FigureRuleDialog } from './dialogs.ts'
import { QuietHoursCard } from './QuietHoursCard.tsx'
import { ruleText } from './rule-text.ts'

const COLUMNS: readonly Column<AlertRule>[] = [
  {
    head: 'Name',
    width: 'w-26',
    className: 'c-name',
    render: ({ name, enabled }) => (
      <>
        <b dir="auto">{name}</b> {!enabled && <Badge kind="mute">Off</Badge>}
      </>
    ),
  },
  { head: 'Finds', className: 'c-full', render: (rule) => ruleText(rule) },
  {
    head: 'Told After',
    width: 'w-15',
    label: 'Told After',
    render: ({ minutes }) =>
      minutes === null ? 'At once' : minutes === 1 ? '1 minute' : `${minutes} minutes`,
  },
]

type Open = { builtIn: AlertRule } | { own: AlertRule | undefined } | null

/** What is looked for, and when nobody is to be disturbed. */
export function AlertRulesPage() {
  const [open, setOpen] = useState<Open>(null)
  const rules = useAnswer(endpoints.listAlertRules, {})
  const canEdit = useRules().may(endpoints.createFigureRule)
  const remove = useRemove()
  const columns = useMemo(
    () => (canEdit ? [...COLUMNS, actions(setOpen, remove)] : COLUMNS),
    [canEdit, remove],
  )
  const close = () => setOpen(null)
  const add = canEdit && (
    <Button variant="primary" icon={Plus} onClick={() => setOpen({ own: undefined })}>
      Add Rule
    </Button>
  )
  return (
    <AlertsFrame title="Alert Rules" actions={add}>
      <AnswerTable answer={rules} caption="Rules" noun="rules" columns={columns} />
      <QuietHoursCard canEdit={canEdit} />
      <Suspense>
        {open && 'builtIn' in open && <BuiltInRuleDialog rule={open.builtIn} onClose={close} />}
        {open && 'own' in open && <FigureRuleDialog rule={open.own} onClose={close} />}
      </Suspense>
    </AlertsFrame>
  )
}

function actions(onOpen: (open: Open) => void, remove: (rule: AlertRule) => void): Column<AlertRule> {
  return {
    head: 'Actions',
    hiddenHead: true,
    width: 'w-act',
    className: 'c-act',
    render: (rule) => {
      const isOwn = rule.kind === 'figure'
      const edit = () => onOpen(isOwn ? { own: rule } : { builtIn: rule })
      return (
        <Menu
          label={`Actions for ${rule.name}`}
          groups={[
            [{ text: 'Edit Rule', icon: Pencil, onSelect: edit }],
            [isOwn && { text: 'Delete Rule', icon: Trash2, danger: true, onSelect: () => remove(rule) }],
          ]}
        />
      )
    },
  }
}

function useRemove() {
  const api = useApi()
  const queries = useQueryClient()
  return useMemo(
    () => (rule: AlertRule) =>
      void ask({
        question: {
          title: 'Delete rule',
          description: (
            <>
              <b>{rule.name}</b> is looked for no more. An alert of it that is open goes without a message.
            </>
          ),
          variant: 'danger',
          icon: Trash2,
          acceptButtonText: 'Yes, delete it!',
        },
        act: () => api.call(endpoints.deleteFigureRule, { params: { id: rule.id } }),
        done: 'Rule deleted successfully!',
        subject: rule.name,
        refresh: () => reload(queries, { queryKey: [endpoints.listAlertRules.path] }),
      }),
    [api, queries],
  )
}
