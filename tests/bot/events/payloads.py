"""Deliveries in the form of each forge, with what a test changes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"
ZERO = "0" * 40


def gitlab_note(text: str = "/optimize", **more: Any) -> dict[str, Any]:
    return {
        "object_kind": "note",
        "event_type": "note",
        "user": {"username": "alice", "name": "Alice"},
        "project": {"path_with_namespace": "team/ops", "id": 3},
        "object_attributes": {
            "id": 1241,
            "note": text,
            "noteable_type": "MergeRequest",
            "system": False,
            "action": "create",
            "updated_at": "2026-05-17 18:08:09 UTC",
        }
        | more,
        "merge_request": {"iid": 7, "draft": False, "last_commit": {"id": SHA}},
    }


def gitlab_merge_request(action: str, changes: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "object_kind": "merge_request",
        "user": {"username": "alice"},
        "project": {"path_with_namespace": "team/ops"},
        "object_attributes": {
            "iid": 7,
            "action": action,
            "draft": False,
            "last_commit": {"id": SHA},
            "updated_at": "2026-05-17T18:08:09Z",
        }
        | more,
        "changes": changes or {},
    }


def hub_comment(number: int, comment: int, repository: str = "team/ops") -> dict[str, Any]:
    """alice's `/optimize` under a pull request of GitHub, as far as it is read."""
    return {
        "action": "created",
        "repository": {"full_name": repository},
        "issue": {"number": number, "pull_request": {"url": "x"}},
        "comment": {"id": comment, "body": "/optimize", "user": {"login": "alice"}},
        "sender": {"login": "alice", "type": "User"},
    }


def hub_headers(body: bytes, secret: str, delivery: str) -> dict[str, str]:
    return {
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": hub_signature(body, secret),
        "Content-Type": "application/json",
    }


def hub_signature(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard_headers(body: bytes, key: bytes, at: int, delivery: str = "d-1") -> dict[str, str]:
    signed = f"{delivery}.{at}.".encode() + body
    made = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": delivery,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,AAAA v1,{made}",
    }


def raw(data: Any) -> bytes:
    return json.dumps(data).encode()
