import {
  ArrowDownWideNarrow,
  Binary,
  Bot,
  CircleDot,
  Link2,
  type LucideIcon,
  Scale,
  Search,
  Shield,
  Sparkles,
  Wrench,
} from 'lucide-react';
import type { TraceStep } from '../../api-types.ts';

const ICONS: Record<TraceStep['type'], LucideIcon> = {
  agent: Bot,
  model: Sparkles,
  tool: Wrench,
  retrieval: Search,
  embedding: Binary,
  rerank: ArrowDownWideNarrow,
  guardrail: Shield,
  evaluator: Scale,
  chain: Link2,
  other: CircleDot,
};

/** The icon of a step type. A newer service may have more types. */
export function StepIcon({ type }: { type: TraceStep['type'] }) {
  const Icon = ICONS[type] ?? CircleDot;
  return <Icon className="icon" aria-hidden />;
}
