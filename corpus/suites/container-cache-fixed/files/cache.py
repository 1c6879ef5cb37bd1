"""Files in containers, which are made when they are first needed."""

import logging

from azure.core.exceptions import ResourceExistsError

log = logging.getLogger(__name__)


class ContainerCache:
    """Remembers which containers are there, so that each is asked for once."""

    def __init__(self, service):
        self.service = service
        self.known = set()

    def get(self, name):
        if name not in self.known:
            self._create(name)
            self.known.add(name)
        return self.service.get_container_client(name)

    def _create(self, name):
        try:
            self.service.create_container(name)
        except ResourceExistsError:
            log.info("container %s exists", name)
